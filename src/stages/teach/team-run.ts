import { ModelError } from '../../base/errors/index.ts'
import { type Agent, type Grammar, parsePayload } from '../../language/grammar/index.ts'
import type { Message } from '../../schema/index.ts'
import { type CallOptions, callTool, type Tool, type ToolResult } from '../../world/tools/index.ts'
import type {
  Activation,
  AgentSpec,
  AskOptions,
  Memory,
  Mind,
  Reply,
  ReplySettings,
  TeamLimits,
  TeamRun,
  Topology,
  TopologySettings,
  Turn,
  Written,
} from './contract.ts'
import { instructionsFor, isExample, replyExamples } from './examples.ts'
import { guidedRules } from './guided-reply.ts'
import { readLenient } from './lenient-reply.ts'
import type { Recorder } from './recorder.ts'
import { readReply, replyRules } from './reply.ts'
import { isError, shortOutput } from './tool-output.ts'

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
  replies?: ReplySettings
  /** For the agent that is asked first. */
  hint?: string | undefined
  /** Whether two answers are the same. */
  isSame: (one: string, other: string) => Promise<boolean>
  /** Whether the checker finds an answer wrong, and how often it may say so. */
  verdicts?: { isWrong: (answer: string) => Promise<boolean>; most: number } | undefined
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
  /** Blocks that were ignored because an agent wrote several of one kind. */
  ignored?: number
  /** Suggested answers that the checker rejected. */
  verdicts?: number
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
  /** The conversation that has the hint. */
  #hinted: Memory | undefined
  /** The last program that ran without an error. */
  #program: string | undefined
  /** The output of the last call, if it is one short line. */
  #output: string | undefined

  constructor(parts: RunParts) {
    this.#parts = parts
    this.question = parts.question
    this.workers = parts.workers
    this.settings = parts.settings
    this.agents = new Map([...parts.topology.roles, ...parts.workers].map((agent) => [agent.name, agent]))
  }

  /** Agents that a model plays have a system prompt in common, which a server computes once for all of them. */
  get sharesQuestion(): boolean {
    return this.settings.workFirst
  }

  get exhausted(): string | undefined {
    const { steps } = this.#parts.limits
    return this.totals.steps >= steps ? `reached the limit of ${steps} tool calls` : this.#overBudget
  }

  get mayConclude(): boolean {
    return this.settings.workFirst && this.#overBudget === undefined
  }

  get #overBudget(): string | undefined {
    const { promptTokens, completionTokens, spend } = this.totals
    const { limits } = this.#parts
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
    const instructions = instructionsFor(agent, this.#isHelped(agent))
    return this.sharesQuestion
      ? { agent, messages: [{ role: 'system', content: sharedPrompt(this.question) }], opening: instructions }
      : { agent, messages: [{ role: 'system', content: instructions }] }
  }

  #isHelped(agent: AgentSpec): boolean {
    return this.#mindOf(agent).isModel === true && this.#parts.replies?.examples !== false
  }

  /** Not if replies are guided: they have the format anyway, and small models copy the content of examples. */
  #hasExamples(agent: AgentSpec): boolean {
    return this.#isHelped(agent) && this.#mindOf(agent).isGuided !== true
  }

  async ask(memory: Memory, message: string, options: AskOptions): Promise<Turn> {
    const { agent } = memory
    const rules = this.#rules(memory, options)
    const tries = 1 + (this.#parts.replies?.retries ?? 1)
    let { cause } = options
    const opening = memory.messages.length === 1 ? memory.opening : undefined
    const parts = [opening, this.#withHint(memory, message), rules]
    memory.messages.push({ role: 'user', content: parts.filter((part) => part).join('\n\n') })
    for (let attempt = 1; ; attempt++) {
      const { event, result } = await this.#write(memory, options, cause)
      if (typeof result !== 'string') return result
      if (attempt >= tries)
        throw new ModelError(`${agent.name} wrote ${unusable(attempt)}: ${result}`, {
          fix: 'Use a model that follows instructions better, set teach.constrained, or inspect the trajectory.',
        })
      this.totals.repeats++
      memory.messages.push({ role: 'user', content: `Your reply cannot be used: ${result}. ${rules}` })
      cause = event
    }
  }

  #withHint(memory: Memory, message: string): string {
    const { hint } = this.#parts
    if (hint === undefined || this.#hinted !== undefined) return message
    this.#hinted = memory
    return `${message}\n\n${hint}`
  }

  /** What the agent may write and how, with examples if it is a model. */
  #rules({ agent, messages }: Memory, { wants, reasons }: AskOptions): string {
    const workers = this.#workersOf(agent)
    const tool = this.#toolOf(agent)
    const { answer } = this.#parts.grammar
    if (this.#mindOf(agent).isGuided === true) return guidedRules(wants, { workers, answer, tool, reasons })
    const rules = replyRules(wants, workers)
    if (!this.#hasExamples(agent)) return rules
    const computes = this.workers.some((worker) => this.#toolOf(worker)?.payload.syntax === 'code')
    const examples = replyExamples(wants, { workers, computes, ...(tool === undefined ? {} : { tool }) })
    // Once per conversation is enough, and prompts stay short.
    const isKnown = messages.some(({ content }) => content.includes(examples))
    return isKnown ? rules : `${rules}\n\n${examples}`
  }

  #workersOf({ crew }: AgentSpec): string[] {
    return this.workers.filter((worker) => worker.crew === crew).map(({ name }) => name)
  }

  #toolOf({ tool }: AgentSpec): Agent | undefined {
    return tool === undefined ? undefined : this.#parts.grammar.agents.get(tool)
  }

  async #write(
    memory: Memory,
    { wants, refuse, observation, suggestion, reasons }: AskOptions,
    cause: string | null,
  ): Promise<{ event: string; result: Turn | string }> {
    const { recorder, signal } = this.#parts
    const { agent } = memory
    signal.throwIfAborted()
    const messages = [...memory.messages]
    const activated = recorder.add({
      type: 'activated',
      agent: agent.name,
      parent: cause,
      messages,
      ...(memory === this.#hinted ? { sawGold: true } : {}),
    })
    const tool = this.#toolOf(agent)
    const activation: Activation = {
      agent,
      wants,
      messages,
      signal,
      workers: this.#workersOf(agent),
      answer: this.#parts.grammar.answer.payload,
      ...(tool === undefined ? {} : { tool }),
      ...(observation === undefined ? {} : { observation }),
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(this.#program === undefined ? {} : { program: this.#program }),
      ...(this.#output === undefined ? {} : { output: this.#output }),
      ...(reasons === undefined ? {} : { reasons }),
    }
    const written = await this.#mindOf(agent).write(activation)
    const { text, reasoning } = written
    this.totals.retries += written.retries ?? 0
    const usage =
      written.isCopy === true
        ? { promptTokens: 0, completionTokens: 0 }
        : this.#count(messages, reasoning === undefined ? text : `${reasoning}${text}`, written.requests)
    const parsed = this.#parse(activation, written)
    const reply = typeof parsed === 'string' ? parsed : (refuse?.(parsed) ?? parsed)
    if (typeof reply !== 'string' && reply.ignored !== undefined)
      this.totals.ignored = (this.totals.ignored ?? 0) + reply.ignored
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
  #parse(activation: Activation, written: Written): Omit<Turn, 'event'> | string {
    const { agent, tool } = activation
    const reply = written.reply ?? this.#read(activation, written)
    if (typeof reply === 'string') return reply
    const { as, to } = reply
    if (this.#hasExamples(agent) && isExample(as, reply.text)) return `<${as}> only repeats the example`
    if (to !== undefined && !this.workers.some(({ name }) => name === to)) return `there is no agent ${to}`
    if (as !== 'call') return reply
    const definition = this.#parts.grammar.agents.get(tool?.name ?? '')
    if (definition === undefined) return `${agent.name} has no tool`
    const { payload, problems } = parsePayload(definition, reply.text)
    if (payload === undefined) return problems.at(-1)?.message ?? 'the call cannot be parsed'
    return { ...reply, payload }
  }

  #read(activation: Activation, { text, reasoning }: Written): Reply | string {
    const isStrict =
      this.#mindOf(activation.agent).isModel !== true || this.#parts.replies?.replies === 'strict'
    const reply = isStrict ? readReply(text, activation.wants) : readLenient(text, activation)
    if (typeof reply === 'string' || reasoning === undefined) return reply
    return { ...reply, thought: [reasoning.trim(), reply.thought].filter((part) => part !== '').join('\n') }
  }

  #mindOf(agent: AgentSpec): Mind {
    const known = this.#minds.get(agent.name) ?? this.#parts.mindOf(agent)
    this.#minds.set(agent.name, known)
    return known
  }

  #count(
    messages: readonly Message[],
    text: string,
    requests = 1,
  ): { promptTokens: number; completionTokens: number } {
    const { prompt: once, completion } = this.#parts.countTokens(messages, text)
    const prompt = requests * once
    const { prices } = this.#parts
    this.totals.activations++
    this.totals.promptTokens += prompt
    this.totals.completionTokens += completion
    this.totals.spend += (prompt * prices.prompt + completion * prices.completion) / 1e6
    return { promptTokens: prompt, completionTokens: completion }
  }

  isSame(one: string, other: string): Promise<boolean> {
    return this.#parts.isSame(one, other)
  }

  async isRejected(suggestion: string): Promise<boolean> {
    const { verdicts } = this.#parts
    const isSpent = (): boolean => (this.totals.verdicts ?? 0) >= (verdicts?.most ?? 0)
    if (verdicts === undefined || isSpent() || !(await verdicts.isWrong(suggestion))) return false
    // Another side of a debate may have used the last one in the meantime.
    if (isSpent()) return false
    this.totals.verdicts = (this.totals.verdicts ?? 0) + 1
    return true
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
    const isUseful = !isError(turn.payload!, result)
    if (isUseful && turn.payload!.syntax === 'code') this.#program = turn.payload!.code
    this.#output = isUseful ? shortOutput(result) : undefined
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

function sharedPrompt(question: string): string {
  return `You are a member of a team that answers a question.\n\nQuestion: ${question}`
}

function unusable(replies: number): string {
  return replies === 1 ? 'an unusable reply' : `${replies === 2 ? 'two' : replies} unusable replies in a row`
}
