import { z } from 'zod'
import { ToolError } from '../../../base/errors/index.ts'
import type { Tool } from '../contract.ts'
import { cutEnd } from '../output-limit.ts'
import { agentNames } from './agent-names.ts'
import type { ListedTool, McpConnection, McpServer } from './connection.ts'
import { resultText } from './result-text.ts'
import { withoutPatterns } from './without-patterns.ts'

export type { McpServer }

export interface McpOptions {
  /** Prefix for every tool name, such as "files_". */
  prefix?: string
  /** Names already in use, such as those of another server's tools. */
  taken?: Iterable<string>
  connectMs?: number
}

export interface McpTools {
  /** The server's own name. */
  server: string
  tools: Tool[]
  close: () => Promise<void>
}

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0]
type PayloadSchema = Extract<Tool['payload'], { syntax: 'json' }>['schema']

/** Part of a system prompt together with all the others, so it must be short. */
const MAX_DESCRIPTION = 1000

/**
 * Connects to a Model Context Protocol server and offers its tools as tool agents. The model reads whatever the server returns:
 * connect only to servers you trust.
 *
 * @example
 * import { extendGrammar, loadGrammar, openMcp } from 'chain-of-agents'
 *
 * const { tools, close } = await openMcp({ command: 'npx', args: ['some-server'] }, { prefix: 'files_' })
 * const grammar = extendGrammar(await loadGrammar('web'), tools)
 * await close()
 */
export async function openMcp(server: McpServer, options: McpOptions = {}): Promise<McpTools> {
  // Loaded lazily, because most programs never need it.
  const { McpConnection } = await import('./connection.ts')
  const connection = new McpConnection(server, options.connectMs ?? 30_000)
  try {
    const listed = await connection.list()
    const names = agentNames(
      listed.map(({ name }) => name),
      options.prefix,
      options.taken,
    )
    return {
      server: connection.label,
      tools: listed.map((tool, index) => toTool(tool, names[index]!, connection)),
      close: () => connection.close(),
    }
  } catch (error) {
    await connection.close()
    throw error
  }
}

function toTool(listed: ListedTool, name: string, connection: McpConnection): Tool {
  const { $schema: _, ...given } = listed.inputSchema
  const schema = withoutPatterns(given)
  const checker = checkerFor(schema as JsonSchema)
  const repeatable = listed.annotations?.readOnlyHint === true || listed.annotations?.idempotentHint === true
  return {
    name,
    description: describe(listed, checker === undefined ? schema : undefined),
    payload: {
      syntax: 'json',
      ...(checker === undefined ? {} : { schema: schema as NonNullable<PayloadSchema> }),
    },
    input: checker ?? z.record(z.string(), z.unknown()),
    fromPayload: (payload) => (payload.syntax === 'json' ? payload.value : payload),
    // Nothing guarantees that the same call gives the same result.
    cacheable: false,
    execute: async (input, { signal }) => {
      const result = await connection.call(listed.name, input as Record<string, unknown>, {
        signal,
        repeatable,
      })
      const text = resultText(result)
      if (result.isError === true) throw new ToolError(text)
      return { text, provenance: { server: connection.label, tool: listed.name } }
    },
  }
}

/**
 * The schema the grammar uses to validate payloads; undefined if it uses unsupported features. The server validates
 * too.
 */
function checkerFor(schema: JsonSchema): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema)
  } catch {
    return undefined
  }
}

/** On one line, like the other agents in the prompt. */
function describe({ name, title, description }: ListedTool, schema: unknown): string {
  const words = (description ?? title ?? name).replaceAll(/\s+/g, ' ').trim() || name
  const shape = schema === undefined ? '' : ` Takes JSON matching ${JSON.stringify(schema)}.`
  return cutEnd(words, MAX_DESCRIPTION) + shape
}
