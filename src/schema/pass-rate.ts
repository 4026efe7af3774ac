import { z } from 'zod'

const count = z.number().int().nonnegative()

/**
 * How often a model solves a task. The id is a digest of everything it depends on, so it is never measured twice.
 */
export const PassRate = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  taskId: z.string(),
  /** The folder of the model, and the fingerprint of its weights. */
  model: z.string(),
  fingerprint: z.string(),
  /** Digest of sampling, limits, tools, seed and the number of tries. */
  how: z.string(),
  /** False where every tool refused, so that the model had to know the answer. */
  tools: z.boolean(),
  correct: count,
  wrong: count,
  /** Tries that say nothing about the model: the checker or something outside of it failed, or time ran out. */
  undecided: count,
})
export type PassRate = z.infer<typeof PassRate>
