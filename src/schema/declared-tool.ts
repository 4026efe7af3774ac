import { z } from 'zod'

/**
 * A configured tool as the grammars of a run know it. Its implementation is not included: nothing in a run starts
 * code.
 */
export const DeclaredTool = z.object({
  v: z.literal(1),
  /** The name of its agent. */
  id: z.string().min(1),
  /** The description shown to the model. */
  description: z.string().min(1),
  /** The payload syntax, as in a grammar. */
  payload: z.record(z.string(), z.json()),
})
