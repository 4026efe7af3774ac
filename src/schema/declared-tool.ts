import { z } from 'zod'

/** A tool of the settings as the grammars of a run know it. What it does is not here: nothing in a run starts code. */
export const DeclaredTool = z.object({
  v: z.literal(1),
  /** The name of its agent. */
  id: z.string().min(1),
  /** What the model is told about it. */
  description: z.string().min(1),
  /** How its payload is written, as grammars say it. */
  payload: z.record(z.string(), z.json()),
})
