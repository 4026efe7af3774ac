import { z } from 'zod'

/** The gold answer of a task, and how an answer is checked against it. */
export const Gold = z.discriminatedUnion('checker', [
  /** Any of the listed answers, after normalisation. */
  z.object({ checker: z.literal('exact'), answers: z.array(z.string()).min(1) }),
  /**
   * Equal as a mathematical value. `expressions`: an answer that has not been worked out, such as 17*144-389 for 2059,
   * counts as well. Without it such an answer is accepted only where the gold is an expression itself.
   */
  z.object({ checker: z.literal('math'), answer: z.string(), expressions: z.boolean().optional() }),
  /** A program that passes every test. */
  z.object({
    checker: z.literal('code'),
    tests: z
      .array(
        z.discriminatedUnion('style', [
          z.object({ style: z.literal('assert'), code: z.string() }),
          z.object({ style: z.literal('stdio'), stdin: z.string(), stdout: z.string() }),
          /** Calls a function, or a method of the class Solution, and compares what it returns. */
          z.object({
            style: z.literal('functional'),
            entry: z.string(),
            args: z.array(z.json()),
            expected: z.json(),
          }),
        ]),
      )
      .min(1),
    setup: z.string().optional(),
  }),
  /** A model compares the answer with the reference. */
  z.object({ checker: z.literal('judge'), answer: z.string() }),
])
export type Gold = z.infer<typeof Gold>

/** A question with its gold answer: what a team or a model is asked to solve. */
export const Task = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  /** Where the task comes from: the name of a generator or a benchmark. */
  suite: z.string(),
  /** The grammar it is meant to be solved in. */
  domain: z.string(),
  split: z.enum(['train', 'dev', 'test']).optional(),
  question: z.string(),
  gold: Gold,
  level: z.number().int().optional(),
  meta: z.record(z.string(), z.json()).default({}),
})
export type Task = z.infer<typeof Task>
