import { z } from 'zod'

/** A quantity problem as the computation behind it. */
export const MathProgram = z.object({
  /** Numbers of the question; `text` is how it writes them. */
  givens: z.array(z.object({ name: z.string(), value: z.string(), text: z.string() })),
  /** Each follows from givens and earlier steps; `text` is one sentence of reasoning. */
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
  /** Numbers of the question that do not matter. */
  distractors: z.array(z.object({ text: z.string(), value: z.string() })),
  /** Wrong answers a hurried solver could arrive at, and how. */
  slips: z.array(z.object({ answer: z.string(), text: z.string() })).min(1),
})
export type MathProgram = z.infer<typeof MathProgram>
