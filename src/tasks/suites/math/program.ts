import { z } from 'zod'

/** The computation behind a word problem. */
export const MathProgram = z.object({
  /** The numbers in the question; `text` is how they are written there. */
  givens: z.array(z.object({ name: z.string(), value: z.string(), text: z.string() })),
  /** Each is computed from givens and earlier steps; `text` is one sentence of reasoning. */
  steps: z.array(
    z.object({
      name: z.string(),
      operation: z.string(),
      inputs: z.array(z.string()),
      expression: z.string(),
      value: z.string(),
      text: z.string(),
    }),
  ),
  /** Prints the answer. */
  python: z.string(),
  /** Irrelevant numbers in the question. */
  distractors: z.array(z.object({ text: z.string(), value: z.string() })),
  /** Plausible wrong answers and the mistakes that lead to them. */
  slips: z.array(z.object({ answer: z.string(), text: z.string() })).min(1),
})
export type MathProgram = z.infer<typeof MathProgram>
