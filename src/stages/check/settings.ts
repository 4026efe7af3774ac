import { z } from 'zod'

/** How `coa check` decides where there is no gold answer. */
export const CheckSection = z
  .strictObject({
    /** An attempt that the judge gives at least this score, from 0 to 1, counts as correct. */
    min_score: z.number().min(0).max(1).default(0.5),
  })
  .prefault({})
export type CheckSection = z.infer<typeof CheckSection>
