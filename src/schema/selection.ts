import { z } from 'zod'

/** A sequence kept by the filter. Lines written before version 1 have no `v`. */
export const Selection = z.object({
  v: z.literal(1).default(1),
  /** Id of the sequence. */
  id: z.string().min(1),
  /** How many times it is used per epoch. */
  weight: z.number().int().positive(),
  /** Digest of the sequence at the time it was selected. */
  digest: z.string().min(1),
})
export type Selection = z.infer<typeof Selection>
