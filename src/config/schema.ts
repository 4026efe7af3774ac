import { z } from 'zod'

/** Where a model answers. Without address and name there is none. The key is named by its variable, never written. */
const modelSection = {
  /** Up to and including the version, such as http://localhost:8000/v1. */
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  model: z.string().min(1).optional(),
  /** Environment variable that holds the key; a server of your own needs none. */
  key_env: z.string().min(1).default('OPENAI_API_KEY'),
  /** For one attempt. */
  timeout_s: z.number().positive().default(120),
  /** Attempts after the first. */
  retries: z.number().int().nonnegative().default(4),
  /** Requests at the same time. */
  concurrency: z.number().int().positive().default(8),
}
const ModelSection = z.strictObject(modelSection)
export type ModelSection = z.infer<typeof ModelSection>

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
  tools: z
    .strictObject({
      /** Folder of outputs that are kept; processes share it. */
      cache: z.string().min(1).default('.coa/tools'),
      /** For all attempts of one call together. */
      timeout_s: z.number().positive().default(30),
      /** Characters of output a model gets to read. */
      output_limit: z.number().int().min(200).default(8000),
      /** Hosts, with port, that may be read although they are not on the public internet. */
      allow_hosts: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
  tasks: z
    .strictObject({
      /** Suites, pulled benchmarks or files to take tasks from. */
      suites: z.array(z.string().min(1)).min(1).default(['math', 'search', 'code']),
      /** How many of each. */
      count: z.number().int().positive().default(10),
      /** Folder of benchmarks fetched with `coa tasks pull`. */
      data: z.string().min(1).default('.coa/benchmarks'),
    })
    .prefault({}),
  search: z
    .strictObject({
      /** auto: the corpus if it is there, else the first service whose variable is set. */
      provider: z.enum(['auto', 'corpus', 'searxng', 'serper', 'brave', 'tavily']).default('auto'),
      /** File made by `coa corpus build`. */
      corpus: z.string().min(1).default('corpus.db'),
      /** Hits a search shows. */
      limit: z.number().int().min(1).max(50).default(5),
    })
    .prefault({}),
  /** Compares an answer with the reference where no rule decides. */
  judge: ModelSection.prefault({}),
  /** Shortens the pages that are read to what the question needs. */
  summary: ModelSection.prefault({}),
  /** Turns passages and queries into vectors. */
  embedding: z
    .strictObject({
      ...modelSection,
      /** Longer passages are cut before they are embedded. */
      max_characters: z.number().int().positive().default(2000),
    })
    .prefault({}),
})
export type ProjectConfig = z.infer<typeof ProjectConfig>
