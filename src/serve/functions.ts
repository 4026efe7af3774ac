import type { z } from 'zod'
import { restrictTools } from '../agent/index.ts'
import { type Agent, extendGrammar, type Grammar, type Payload } from '../language/grammar/index.ts'
import { withoutPatterns } from '../world/tools/index.ts'

type JsonObject = Record<string, z.core.util.JSONType>

/** A function that a client offers. */
export interface ClientFunction {
  name: string
  description?: string | undefined
  /** JSON Schema of its arguments. */
  parameters?: JsonObject | undefined
}

/**
 * The grammar with the client's functions as its tools: its own tools that the client offers by their names, and the other
 * functions as tools that take JSON, as tools of MCP servers are.
 */
export function withFunctions(grammar: Grammar, functions: readonly ClientFunction[]): Grammar {
  const added = functions.map(({ name, description = name, parameters }) => ({
    name,
    description: description === '' ? name : description,
    payload: {
      syntax: 'json' as const,
      // The model's text is not matched against patterns of clients: that can take hours.
      ...(parameters === undefined ? {} : { schema: withoutPatterns(parameters) as JsonObject }),
    },
  }))
  return restrictTools(
    extendGrammar(grammar, added),
    functions.map(({ name }) => name),
  )
}

/** The tools of a grammar as functions, for clients that are to run them. */
export function functionsOf(grammar: Grammar): ClientFunction[] {
  return [...grammar.agents.values()]
    .filter(({ kind }) => kind === 'tool')
    .map(({ name, description, payload }) => ({ name, description, parameters: parametersOf(payload) }))
}

function parametersOf(payload: Agent['payload']): JsonObject {
  const text = { type: 'string' }
  const object = (properties: JsonObject, required: string[]): JsonObject => ({
    type: 'object',
    properties,
    required,
  })
  switch (payload.syntax) {
    case 'text':
      return object({ input: text }, ['input'])
    case 'list':
      return object({ items: { type: 'array', items: text } }, ['items'])
    case 'code':
      return object({ code: text, ...(payload.stdin ? { stdin: text } : {}) }, ['code'])
    case 'json':
      return payload.schema ?? { type: 'object' }
  }
}

/** The arguments of a call. If the client's function has a single parameter, that one gets the input, whatever its name. */
export function argumentsOf(payload: Payload, parameters?: Record<string, unknown>): Record<string, unknown> {
  const only = onlyParameter(parameters)
  switch (payload.syntax) {
    case 'text':
      return { [only?.name ?? 'input']: payload.text }
    case 'list':
      return { [only?.name ?? 'items']: only?.isText === true ? payload.items.join(' | ') : payload.items }
    case 'code':
      return {
        [only?.name ?? 'code']: payload.code,
        ...(payload.stdin === undefined ? {} : { stdin: payload.stdin }),
      }
    case 'json':
      return payload.value
  }
}

function onlyParameter(
  parameters: Record<string, unknown> | undefined,
): { name: string; isText: boolean } | undefined {
  const properties = parameters?.['properties']
  if (typeof properties !== 'object' || properties === null) return undefined
  const required = parameters?.['required']
  const all = Object.entries(properties)
  const needed = Array.isArray(required) ? all.filter(([name]) => required.includes(name)) : []
  const [only] = all.length === 1 ? all : needed.length === 1 ? needed : []
  if (only === undefined) return undefined
  return { name: only[0], isText: (only[1] as { type?: unknown } | null)?.type === 'string' }
}
