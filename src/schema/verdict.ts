import { z } from 'zod'

/** The outcome of checking one answer. A check that could not be made is `undecided`, never wrong. */
export const Verdict = z.object({
  outcome: z.enum(['correct', 'wrong', 'undecided']),
  checker: z.string(),
  evidence: z.string(),
})
export type Verdict = z.infer<typeof Verdict>
