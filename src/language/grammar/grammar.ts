import { z } from 'zod'
import { GrammarError } from '../../base/errors/index.ts'
import { findProblems } from './check.ts'
import { type AgentKind, GrammarDefinition, type GrammarInput, type PayloadDefinition } from './definition.ts'

export interface Agent {
  readonly name: string
  readonly tag: string
  readonly kind: AgentKind
  readonly description: string
  readonly payload: PayloadDefinition
  readonly next: readonly string[]
  /** Validates a JSON payload; null if any object is allowed. */
  readonly schema: z.ZodType | null
}

export interface Prelude {
  readonly agent: string
  readonly before: ReadonlySet<string>
  readonly required: boolean
}

/** A validated definition with lookups. */
export interface Grammar {
  readonly name: string
  readonly description: string
  readonly definition: GrammarDefinition
  readonly agents: ReadonlyMap<string, Agent>
  /** By lowercase tag, because wrong-case tags must be recognized to be repaired. */
  readonly byTag: ReadonlyMap<string, Agent>
  readonly start: readonly string[]
  readonly prelude: Prelude | null
  /** The agent that ends the chain. */
  readonly answer: Agent
  /** The agent that carries tool output; null in a grammar without tools. */
  readonly observation: Agent | null
}

/**
 * Validates a definition and makes it usable.
 *
 * @throws GrammarError that lists every problem at once.
 *
 * @example
 * import { defineGrammar } from 'chain-of-agents'
 *
 * const grammar = defineGrammar({
 *   name: 'short', description: 'Think, then answer.', start: ['think'],
 *   agents: [
 *     { name: 'think', kind: 'role', description: 'Think.', next: ['answer'] },
 *     { name: 'answer', kind: 'answer', description: 'Answer.' },
 *   ],
 * })
 */
export function defineGrammar(input: GrammarInput): Grammar {
  const parsed = GrammarDefinition.safeParse(input)
  if (!parsed.success) {
    throw grammarError(
      input,
      parsed.error.issues.map((issue) => `${issue.path.join('.') || 'grammar'}: ${issue.message}`),
    )
  }
  const problems = findProblems(parsed.data)
  if (problems.length > 0) throw grammarError(input, problems)
  return compile(parsed.data)
}

function grammarError(input: unknown, problems: string[]): GrammarError {
  const name = (input as { name?: unknown } | null)?.name
  const label = typeof name === 'string' ? `grammar "${name}"` : 'the grammar'
  const rest = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  return new GrammarError(`${label} is invalid: ${problems[0]}${rest}`, {
    fix: 'Fix the definition; `coa grammar check FILE` lists every problem.',
    details: { problems },
  })
}

function compile(definition: GrammarDefinition): Grammar {
  const agents = new Map<string, Agent>()
  const byTag = new Map<string, Agent>()
  for (const each of definition.agents) {
    const schema = each.payload.syntax === 'json' ? each.payload.schema : undefined
    const agent: Agent = {
      name: each.name,
      tag: each.tag ?? each.name,
      kind: each.kind,
      description: each.description,
      payload: each.payload,
      next: each.next,
      schema:
        schema === undefined ? null : z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]),
    }
    agents.set(agent.name, agent)
    byTag.set(agent.tag.toLowerCase(), agent)
  }
  const ofKind = (kind: AgentKind): Agent | null =>
    [...agents.values()].find((agent) => agent.kind === kind) ?? null
  const { prelude } = definition
  return {
    name: definition.name,
    description: definition.description,
    definition,
    agents,
    byTag,
    start: definition.start,
    prelude:
      prelude === undefined
        ? null
        : { agent: prelude.agent, before: new Set(prelude.before), required: prelude.required },
    answer: ofKind('answer')!,
    observation: ofKind('observation'),
  }
}
