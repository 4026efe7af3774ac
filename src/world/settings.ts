import { z } from 'zod'
import type { LanguageSection } from '../language/settings.ts'
import { nameOrPath, serverAddress } from '../settings/index.ts'

/** Where a model answers. Without address and name there is none. The key is named by its variable, never written. */
export const modelSection = {
  /** Up to and including the version, such as http://localhost:8000/v1. */
  base_url: serverAddress.optional(),
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
export const ModelSection = z.strictObject(modelSection).prefault({})
export type ModelSection = z.infer<typeof ModelSection>

/** A Model Context Protocol server: a command that starts it, or the address where it answers. */
export const McpSection = z
  .strictObject({
    /** With its arguments, such as ["npx", "some-server"]. */
    command: z.array(z.string().min(1)).min(1).optional(),
    /** Names of the environment variables that the command gets, besides PATH and the like. */
    env: z.array(z.string().min(1)).default([]),
    url: serverAddress.optional(),
    /** Headers of requests, and the environment variables that hold their values: { Authorization = "MY_TOKEN" }. */
    headers: z.record(z.string().min(1), z.string().min(1)).default({}),
  })
  .refine(
    ({ command, url }) => (command === undefined) !== (url === undefined),
    'an MCP server has either a command or a url',
  )
export type McpSection = z.infer<typeof McpSection>

export const ToolsSection = z
  .strictObject({
    /** Folder of tool outputs and judgements that are kept; processes share it. Empty: none are. */
    cache: z.string().meta({ fromRun: 'never' }).default('.coa/tools'),
    /** For all attempts of one call together. */
    timeout_s: z.number().positive().default(30),
    /** Characters of output a model gets to read. */
    output_limit: z.number().int().min(200).default(8000),
    /** Hosts, with port, that may be read although they are not on the public internet. */
    allow_hosts: z.array(z.string().min(1)).default([]),
    /** Servers whose tools every grammar has besides its own, by a name of yours. */
    mcp: z.record(z.string().regex(/^[\w-]+$/), McpSection).default({}),
    /** Files of code with tools of your own, which every grammar has too. */
    own: z.strictObject({ files: z.array(z.string().min(1)).default([]) }).prefault({}),
  })
  .prefault({})
export type ToolsSection = z.infer<typeof ToolsSection>

export const SandboxSection = z
  .strictObject({
    /** Where programs run. auto: the strongest that works here; pyodide is the quickest to start. */
    driver: z.enum(['auto', 'bubblewrap', 'pyodide']).default('auto'),
  })
  .prefault({})
export type SandboxSection = z.infer<typeof SandboxSection>

export const SearchSection = z
  .strictObject({
    /** auto: the corpus if it is there, else the first service whose variable is set. */
    provider: z.enum(['auto', 'corpus', 'searxng', 'serper', 'brave', 'tavily']).default('auto'),
    /** File made by `coa corpus build`. */
    corpus: nameOrPath().default('corpus.db'),
    /** Hits a search shows. */
    limit: z.number().int().min(1).max(50).default(5),
  })
  .prefault({})
export type SearchSection = z.infer<typeof SearchSection>

/** Turns passages and queries into vectors. */
export const EmbeddingSection = z
  .strictObject({
    ...modelSection,
    /** Longer passages are cut before they are embedded. */
    max_characters: z.number().int().positive().default(2000),
  })
  .prefault({})
export type EmbeddingSection = z.infer<typeof EmbeddingSection>

/** What a world is made from. */
export interface WorldConfig {
  language: LanguageSection
  tools: ToolsSection
  sandbox: SandboxSection
  search: SearchSection
  judge: ModelSection
  summary: ModelSection
  embedding: EmbeddingSection
}
