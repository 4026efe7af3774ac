import type { Grammar, Payload } from '../language/grammar/index.ts'
import type { Rollout } from '../schema/index.ts'
import { type CallOptions, callTool, type Tool } from '../world/tools/index.ts'
import type { Completed } from './chain-reader.ts'
import type { Failure } from './failure.ts'

type Call = Exclude<Completed, { kind: 'answer' }>

export interface CallOutcome {
  /** What the model will read. */
  output: string
  ms: number
  failure?: Failure
}

/** The calls of one rollout: made, counted and remembered. */
export class ToolCalls {
  readonly #grammar: Grammar
  readonly #tools: ReadonlyMap<string, Tool>
  readonly #calling: CallOptions
  readonly #times = new Map<string, number>()
  readonly list: Rollout['calls'] = []

  constructor(grammar: Grammar, tools: readonly Tool[], calling: CallOptions) {
    this.#grammar = grammar
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
    this.#calling = calling
  }

  /** How often the same has been called. Malformed calls count as one and the same. */
  timesMade(call: Call): number {
    return this.#times.get(keyOf(call)) ?? 0
  }

  async make(made: Call, signal: AbortSignal): Promise<CallOutcome> {
    const key = keyOf(made)
    this.#times.set(key, this.timesMade(made) + 1)
    if (made.kind === 'malformed') {
      this.list.push({ agent: made.agent, outcome: 'malformed', ms: 0, cached: false })
      const { tag } = this.#grammar.agents.get(made.agent)!
      return { output: `This <${tag}> call could not be read: ${made.message}. Write it again.`, ms: 0 }
    }
    const { agent, payload } = made.call
    const tool = this.#tools.get(agent)
    if (tool === undefined) {
      this.list.push({ agent, outcome: 'environment', ms: 0, cached: false })
      const message = `${agent} is not available`
      return { output: message, ms: 0, failure: { boundary: 'tool', message } }
    }
    const result = await callTool(tool, payload, { ...this.#calling, signal })
    const outcome = result.ok ? 'ok' : result.environment ? 'environment' : 'refused'
    this.list.push({ agent, outcome, ms: result.ms, cached: result.cached })
    return {
      output: result.text,
      ms: result.ms,
      ...(outcome === 'environment' ? { failure: { boundary: 'tool', message: result.text } } : {}),
    }
  }
}

function keyOf(call: Call): string {
  return call.kind === 'malformed'
    ? `malformed ${call.agent}`
    : `${call.call.agent} ${JSON.stringify(call.call.payload)}`
}

/** An answer as the checkers take it. */
export function answerText(payload: Payload): string {
  switch (payload.syntax) {
    case 'text':
      return payload.text
    case 'list':
      return payload.items.join(' | ')
    case 'code':
      return payload.code
    case 'json':
      return JSON.stringify(payload.value)
  }
}
