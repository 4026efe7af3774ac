import { z } from 'zod'
import type { LanguageSection } from '../language/settings.ts'
import { nameOrPath, serverAddress } from '../settings/index.ts'

/**
 * A model behind an OpenAI-compatible API; none without URL and name. The key is read from a variable, never written.
 */
export const modelSection = {
  /** Base URL including the version, such as http://localhost:8000/v1. */
  base_url: serverAddress.optional(),
  model: z.string().min(1).optional(),
  /** Environment variable with the key; your own server may need none. */
  key_env: z.string().min(1).default('OPENAI_API_KEY'),
  /** Timeout of one attempt. */
  timeout_s: z.number().positive().default(120),
  /** Retries after the first attempt. */
  retries: z.number().int().nonnegative().default(4),
  /** Concurrent requests. */
  concurrency: z.number().int().positive().default(8),
}
export const ModelSection = z.strictObject(modelSection).prefault({})
export type ModelSection = z.infer<typeof ModelSection>

/** How a model that plays agents of a team is sampled. */
const sampling = {
  temperature: z.number().nonnegative(),
  /** Maximum tokens per reply. */
  max_tokens: z.number().int().positive(),
}

/** The model of one agent: a field that is not set is that of the team's model. */
const AgentModelSection = z.strictObject({ ...modelSection, ...sampling }).partial()

/** The model that plays the agents of a team: behind an API, or, without a URL, a folder on the engine of [engine]. */
export const TeacherSection = z
  .strictObject({
    ...modelSection,
    temperature: sampling.temperature.default(0.7),
    max_tokens: sampling.max_tokens.default(1024),
    /** Other models for some agents, by name: [teacher.agents.critic]. A model of its own needs its own base_url. */
    agents: z.record(z.string().min(1), AgentModelSection).default({}),
  })
  .prefault({})
export type TeacherSection = z.infer<typeof TeacherSection>

/** A Model Context Protocol server: a command that starts it, or its URL. */
export const McpSection = z
  .strictObject({
    /** The command with its arguments, such as ["npx", "some-server"]. */
    command: z.array(z.string().min(1)).min(1).optional(),
    /** Environment variables passed to the command, besides PATH and the like. */
    env: z.array(z.string().min(1)).default([]),
    url: serverAddress.optional(),
    /** Request headers, and the environment variables with their values: { Authorization = "MY_TOKEN" }. */
    headers: z.record(z.string().min(1), z.string().min(1)).default({}),
  })
  .refine(
    ({ command, url }) => (command === undefined) !== (url === undefined),
    'an MCP server has either a command or a url',
  )
export type McpSection = z.infer<typeof McpSection>

export const ToolsSection = z
  .strictObject({
    /** Folder for cached tool outputs and judgments; processes share it. Empty: no cache. */
    cache: z.string().meta({ fromRun: 'never' }).default('.coa/tools'),
    /** Timeout of one call, including retries. */
    timeout_s: z.number().positive().default(30),
    /** Maximum characters of output shown to a model. */
    output_limit: z.number().int().min(200).default(8000),
    /** Hosts, with port, that may be read although they are not on the public internet. */
    allow_hosts: z.array(z.string().min(1)).default([]),
    /** MCP servers by name; every grammar gets their tools in addition to its own. */
    mcp: z.record(z.string().regex(/^[\w-]+$/), McpSection).default({}),
    /** Code files with your own tools, which every grammar gets too. */
    own: z.strictObject({ files: z.array(z.string().min(1)).default([]) }).prefault({}),
  })
  .prefault({})
export type ToolsSection = z.infer<typeof ToolsSection>

export const SandboxSection = z
  .strictObject({
    /** Sandbox for model-written code. auto: the strongest one that works here; pyodide starts fastest. */
    driver: z.enum(['auto', 'bubblewrap', 'pyodide']).default('auto'),
  })
  .prefault({})
export type SandboxSection = z.infer<typeof SandboxSection>

export const SearchSection = z
  .strictObject({
    /** auto: the corpus if it exists, else the first service whose variable is set. */
    provider: z.enum(['auto', 'corpus', 'searxng', 'serper', 'brave', 'tavily']).default('auto'),
    /** File created by `coa corpus build`. */
    corpus: nameOrPath().default('corpus.db'),
    /** Results per search. */
    limit: z.number().int().min(1).max(50).default(5),
  })
  .prefault({})
export type SearchSection = z.infer<typeof SearchSection>

/** Embeds passages and queries. */
export const EmbeddingSection = z
  .strictObject({
    ...modelSection,
    /** Longer passages are truncated before embedding. */
    max_characters: z.number().int().positive().default(2000),
  })
  .prefault({})
export type EmbeddingSection = z.infer<typeof EmbeddingSection>

export interface WorldConfig {
  language: LanguageSection
  tools: ToolsSection
  sandbox: SandboxSection
  search: SearchSection
  judge: ModelSection
  summary: ModelSection
  embedding: EmbeddingSection
}
