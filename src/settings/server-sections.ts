import { z } from 'zod'

/** Settings are kept with every run, so an address must not carry what is secret; it would not be sent either. */
export const serverAddress = z.url({ protocol: /^https?$/ }).refine((address) => {
  const url = URL.parse(address)
  return url === null || (url.username === '' && url.password === '' && url.search === '')
}, 'the address has a user name, a password or a query; put the key into the variable that key_env names')

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
export const ModelSection = z.strictObject(modelSection)
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
