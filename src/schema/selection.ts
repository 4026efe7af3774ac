import { z } from 'zod'

/** A sequence that the filter kept. Lines of versions before 1 of this record have no `v`. */
export const Selection = z.object({
  v: z.literal(1).default(1),
  /** Of the sequence. */
  id: z.string().min(1),
  /** How often it counts in a pass. */
  weight: z.number().int().positive(),
  /** Of the sequence as it was when it was chosen. */
  digest: z.string().min(1),
})
export type Selection = z.infer<typeof Selection>
