import { z } from 'zod'

/** The settings of a project, as in coa.toml. Stages add their own sections as they arrive. */
export const ProjectConfig = z.strictObject({
  project: z
    .strictObject({
      /** Folder that holds the run folders. */
      runs: z.string().min(1).default('runs'),
      /** Everything random starts from here. */
      seed: z.number().int().nonnegative().default(1),
    })
    .prefault({}),
  language: z
    .strictObject({
      /** A grammar that comes with coa, or the path of a .toml or .ts file. */
      grammar: z.string().min(1).default('web'),
      /** A folder with tokenizer.json, or "bytes" for one token a byte. */
      tokenizer: z.string().min(1).default('bytes'),
    })
    .prefault({}),
})
export type ProjectConfig = z.infer<typeof ProjectConfig>
