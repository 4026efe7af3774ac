import { z } from 'zod'

/** The gold answer of a task, and how an answer is checked against it. */
export const Gold = z.discriminatedUnion('checker', [
  /** Any of the listed answers, after normalization. */
  z.object({ checker: z.literal('exact'), answers: z.array(z.string()).min(1) }),
  /**
   * Mathematical equality. With `expressions`, an unevaluated answer such as 17*144-389 for 2059 is accepted too;
   * otherwise only if the gold answer is itself an expression.
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
          /** Calls a function, or a method of the class Solution, and compares the return value. */
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
  /** There is no gold answer: nothing can be checked, but attempts can be compared with each other. */
  z.object({ checker: z.literal('none') }),
])
export type Gold = z.infer<typeof Gold>
export type Checker = Gold['checker']

/** A question with its gold answer: what a team or a model is asked to solve. */
export const Task = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  /** The generator or benchmark the task comes from. */
  suite: z.string(),
  /** The grammar to solve it in. */
  domain: z.string(),
  split: z.enum(['train', 'dev', 'test']).optional(),
  question: z.string(),
  gold: Gold,
  level: z.number().int().optional(),
  meta: z.record(z.string(), z.json()).default({}),
})
export type Task = z.infer<typeof Task>
export type Split = NonNullable<Task['split']>
