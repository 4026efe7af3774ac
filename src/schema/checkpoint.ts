import { z } from 'zod'

/** The manifest of a checkpoint, which is a Hugging Face folder (config.json, model.safetensors, tokenizer.json). */
export const Checkpoint = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  /** Folder, relative to the run folder. */
  path: z.string(),
  stage: z.enum(['init', 'sft', 'rl', 'import']),
  step: z.number().int().nonnegative(),
  /** The checkpoint it was trained from. */
  parent: z.string().optional(),
  files: z.array(z.object({ path: z.string(), sha256: z.string(), bytes: z.number().int().nonnegative() })),
  metrics: z.record(z.string(), z.number()).default({}),
})
export type Checkpoint = z.infer<typeof Checkpoint>
