import { z } from 'zod'

/**
 * The result of checking one answer. A check that could not be carried out is `undecided`, never wrong; an answer that cannot be
 * parsed is wrong.
 */
export const Verdict = z.object({
  outcome: z.enum(['correct', 'wrong', 'undecided']),
  checker: z.string(),
  evidence: z.string(),
  /** Partial credit, if the checker provides it: fraction of tests passed, token overlap. */
  score: z.number().min(0).max(1).optional(),
})
export type Verdict = z.infer<typeof Verdict>
