import { z } from 'zod'

const count = z.number().int().nonnegative()

/**
 * How often a model solves a task. The id is a digest of everything it depends on, so it is never measured twice.
 */
export const PassRate = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  taskId: z.string(),
  /** The model folder, and the fingerprint of its weights. */
  model: z.string(),
  fingerprint: z.string(),
  /** Digest of sampling settings, limits, tools, seed and number of attempts. */
  how: z.string(),
  /** False if every tool call was refused, so that the model had to know the answer. */
  tools: z.boolean(),
  correct: count,
  wrong: count,
  /** Attempts that say nothing about the model: the checker or something outside the model failed, or time ran out. */
  undecided: count,
})
export type PassRate = z.infer<typeof PassRate>
