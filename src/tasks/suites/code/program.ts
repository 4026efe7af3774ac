import { z } from 'zod'
import type { Json } from './draft.ts'

const Value: z.ZodType<Json> = z.lazy(() =>
  z.union([z.null(), z.boolean(), z.number(), z.string(), z.array(Value)]),
)

/** A programming task with its solution. */
export const CodeProgram = z.object({
  family: z.string(),
  /** The processing steps, in order. */
  stages: z.array(z.string()),
  style: z.enum(['functional', 'stdio']),
  solution: z.string(),
  /** Programs that fail a test, and their errors. */
  bugs: z.array(z.object({ code: z.string(), text: z.string() })).min(1),
  /** Example calls in the question. */
  examples: z.array(z.object({ args: z.array(Value), result: Value })),
})
export type CodeProgram = z.infer<typeof CodeProgram>
