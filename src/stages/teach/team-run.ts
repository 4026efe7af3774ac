import { ModelError } from '../../base/errors/index.ts'
import { type Grammar, parsePayload } from '../../language/grammar/index.ts'
import type { Contribution, Message } from '../../schema/index.ts'
import { type CallOptions, callTool, type Tool, type ToolResult } from '../../world/tools/index.ts'
import type {
  Activation,
  AgentSpec,
  AskOptions,
  Memory,
  Mind,
  TeamLimits,
  TeamRun,
  Topology,
  TopologySettings,
  Turn,
} from './contract.ts'
import type { Recorder } from './recorder.ts'
import { readReply, replyRules } from './reply.ts'

export interface RunParts {
  question: string
  grammar: Grammar
  topology: Topology
  workers: readonly AgentSpec[]
  tools: ReadonlyMap<string, Tool>
  mindOf: (agent: AgentSpec) => Mind
  countTokens: (messages: readonly Message[], written: string) => { prompt: number; completion: number }
  limits: TeamLimits
  /** Per million tokens. */
  prices: { prompt: number; completion: number }
  calling: Omit<CallOptions, 'signal' | 'question'>
  settings: TopologySettings
  recorder: Recorder
  signal: AbortSignal
}

export interface Totals {
  steps: number
  activations: number
  promptTokens: number
  completionTokens: number
  /** Unparseable replies that were requested again. */
  repeats: number
  /** Failed model requests that were retried. */
  retries: number
  spend: number
}

/** One team working on one task. */
export class RecordedRun implements TeamRun {
  readonly question: string
  readonly agents: ReadonlyMap<string, AgentSpec>
  readonly workers: readonly AgentSpec[]
  readonly settings: TopologySettings
  readonly totals: Totals = {
    steps: 0,
    activations: 0,
    promptTokens: 0,
    completionTokens: 0,
    repeats: 0,
    retries: 0,
    spend: 0,
  }
  readonly #parts: RunParts
  readonly #minds = new Map<string, Mind>()
  readonly #started = performance.now()

  constructor(parts: RunParts) {
    this.#parts = parts
    this.question = parts.question
    this.workers = parts.workers
    this.settings = parts.settings
    this.agents = new Map([...parts.topology.roles, ...parts.workers].map((agent) => [agent.name, agent]))
  }

  get exhausted(): string | undefined {
    const { steps, promptTokens, completionTokens, spend } = this.totals
    const { limits } = this.#parts
    if (steps >= limits.steps) return `reached the limit of ${limits.steps} tool calls`
    if (promptTokens + completionTokens >= limits.tokens)
      return `reached the limit of ${limits.tokens} tokens`
    if (performance.now() - this.#started >= limits.wallMs)
      return `reached the time limit of ${limits.wallMs} ms`
    if (spend >= limits.spend) return `spent the budget of ${limits.spend}`
    return undefined
  }

  remember(name: string): Memory {
    const agent = this.agents.get(name)
    if (agent === undefined) throw new RangeError(`the team has no ${name}`)
    return { agent, messages: [{ role: 'system', content: agent.instructions }] }
  }

  async ask(memory: Memory, message: string, options: AskOptions): Promise<Turn> {
    const { wants, cause } = options
    const names = this.workers.filter(({ crew }) => crew === memory.agent.crew).map(({ name }) => name)
    memory.messages.push({ role: 'user', content: `${message}\n\n${replyRules(wants, names)}` })
    const first = await this.#write(memory, options, cause)
    if (typeof first.result !== 'string') return first.result
    this.totals.repeats++
    memory.messages.push({
      role: 'user',
      content: `Your reply cannot be used: ${first.result}. ${replyRules(wants, names)}`,
    })
    const second = await this.#write(memory, options, first.event)
    if (typeof second.result !== 'string') return second.result
    throw new ModelError(`${memory.agent.name} wrote two unusable replies in a row: ${second.result}`, {
      fix: 'Use a model that follows instructions better, or inspect the trajectory.',
    })
  }

  async #write(
    memory: Memory,
    { wants, observation, suggestion }: AskOptions,
    cause: string | null,
  ): Promise<{ event: string; result: Turn | string }> {
    const { recorder, signal } = this.#parts
    const { agent } = memory
    signal.throwIfAborted()
    const messages = [...memory.messages]
    const activated = recorder.add({ type: 'activated', agent: agent.name, parent: cause, messages })
    const activation: Activation = {
      agent,
      wants,
      messages,
      signal,
      ...(observation === undefined ? {} : { observation }),
      ...(suggestion === undefined ? {} : { suggestion }),
    }
    const { text, retries = 0 } = await this.#mindOf(agent).write(activation)
    this.totals.retries += retries
    const usage = this.#count(messages, text)
    const reply = this.#parse(agent, text, wants)
    const event = recorder.add({
      type: 'wrote',
      agent: agent.name,
      parent: activated,
      text,
      ...(typeof reply === 'string'
        ? {}
        : { thought: reply.thought, said: { as: reply.as, text: reply.text } }),
      usage,
    })
    memory.messages.push({ role: 'assistant', content: text })
    return { event, result: typeof reply === 'string' ? reply : { event, ...reply } }
  }

  /** The reply with its parsed call, or the reason why it cannot be used. */
  #parse(agent: AgentSpec, text: string, wants: readonly Contribution[]): Omit<Turn, 'event'> | string {
    const reply = readReply(text, wants)
    if (typeof reply === 'string') return reply
    const { as, to } = reply
    if (to !== undefined && !this.workers.some(({ name }) => name === to)) return `there is no agent ${to}`
    if (as !== 'call') return reply
    const definition = this.#parts.grammar.agents.get(agent.tool ?? '')
    if (definition === undefined) return `${agent.name} has no tool`
    const { payload, problems } = parsePayload(definition, reply.text)
    if (payload === undefined) return problems.at(-1)?.message ?? 'the call cannot be parsed'
    return { ...reply, payload }
  }

  #mindOf(agent: AgentSpec): Mind {
    const known = this.#minds.get(agent.name) ?? this.#parts.mindOf(agent)
    this.#minds.set(agent.name, known)
    return known
  }

  #count(messages: readonly Message[], text: string): { promptTokens: number; completionTokens: number } {
    const { prompt, completion } = this.#parts.countTokens(messages, text)
    const { prices } = this.#parts
    this.totals.activations++
    this.totals.promptTokens += prompt
    this.totals.completionTokens += completion
    this.totals.spend += (prompt * prices.prompt + completion * prices.completion) / 1e6
    return { promptTokens: prompt, completionTokens: completion }
  }

  send(from: string, to: string, text: string, cause: string): string {
    return this.#parts.recorder.add({ type: 'sent', agent: from, parent: cause, to, text, forwards: cause })
  }

  async call({ agent }: Memory, turn: Turn): Promise<{ event: string; result: ToolResult }> {
    const { recorder, tools, calling, signal } = this.#parts
    const tool = tools.get(agent.tool!)!
    this.totals.steps++
    const called = recorder.add({
      type: 'tool-called',
      agent: agent.name,
      parent: turn.event,
      tool: tool.name,
      input: JSON.parse(JSON.stringify(turn.payload)),
    })
    const result = await callTool(tool, turn.payload!, { ...calling, question: this.question, signal })
    const event = recorder.add({
      type: 'tool-answered',
      agent: agent.name,
      parent: called,
      tool: tool.name,
      output: result.text,
      ok: result.ok,
    })
    return { event, result }
  }
}
