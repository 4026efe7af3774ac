import type { World } from '../../agent/index.ts'
import { digestOf } from '../../base/digests/index.ts'
import { seedOf } from '../../base/random/index.ts'
import { type Agent, type Grammar, parsePayload } from '../../language/grammar/index.ts'
import type { Message, Task } from '../../schema/index.ts'
import { callTool, type Tool } from '../../world/tools/index.ts'
import { asAnswer, describeAgent } from './answer-of.ts'
import { checkedAttempt } from './attempts.ts'
import type { Chat } from './chat.ts'
import type { Attempt, Solver } from './contract.ts'
import type { TalkSettings } from './plain-solver.ts'
import { TokenTally, tokenizerName } from './token-tally.ts'

export interface ReactSettings extends TalkSettings {
  /** Maximum number of tool calls, malformed ones included. */
  maxTurns: number
}

/** Consecutive replies without a tool call or answer before the attempt ends unanswered. */
const MOST_UNUSABLE = 2

/** A ReAct agent on any chat model. */
export function reactSolver(name: string, chat: Chat, world: World, settings: ReactSettings): Solver {
  return {
    name,
    kind: 'react',
    how: digestOf('react', chat.how, settings),
    tokenizer: tokenizerName(chat.tokenizer),
    async solve(task, _attempt, seed, signal) {
      const grammar = await world.grammarOf(task)
      const tools = new Map((await world.toolsOf(task)).map((tool) => [tool.name, tool]))
      const work = new ReactRun(task, grammar, tools, chat, world, settings)
      const began = performance.now()
      const answer = await work.run(seed, signal)
      const ms = Math.round(performance.now() - began)
      return await checkedAttempt(task, answer, world, signal, {
        tokens: work.tally.totals(),
        calls: work.calls,
        requests: work.tally.requests,
        ms,
        ...(work.failure === undefined ? {} : { failure: work.failure }),
      })
    },
  }
}

class ReactRun {
  readonly #task: Task
  readonly #grammar: Grammar
  readonly #tools: ReadonlyMap<string, Tool>
  readonly #chat: Chat
  readonly #world: World
  readonly #settings: ReactSettings
  readonly #agents: Agent[]
  readonly tally: TokenTally
  calls = 0
  failure: Attempt['failure']

  constructor(
    task: Task,
    grammar: Grammar,
    tools: ReadonlyMap<string, Tool>,
    chat: Chat,
    world: World,
    settings: ReactSettings,
  ) {
    this.#task = task
    this.#grammar = grammar
    this.#tools = tools
    this.#chat = chat
    this.#world = world
    this.#settings = settings
    this.#agents = [...grammar.agents.values()].filter(({ kind, name }) => kind === 'tool' && tools.has(name))
    this.tally = new TokenTally(chat.tokenizer)
  }

  async run(seed: number, signal: AbortSignal): Promise<string | undefined> {
    const messages: Message[] = [
      { role: 'system', content: this.#instructions() },
      { role: 'user', content: this.#task.question },
    ]
    const { answer } = this.#grammar
    const actions = [...this.#agents, answer]
    const stop = actions.map(({ tag }) => `</${tag}>`)
    const { temperature, maxTokens, maxTurns } = this.#settings
    for (let request = 0, unusable = 0; unusable < MOST_UNUSABLE; request++) {
      const say = { temperature, maxTokens, seed: seedOf('react', seed, request), signal, stop }
      const reply = await this.#chat.say([...messages], say)
      this.tally.add(messages, reply)
      messages.push({ role: 'assistant', content: reply })
      const action = actionIn(reply, actions)
      if (action?.agent === answer) return asAnswer(action.body, answer)
      if (action !== undefined && this.calls >= maxTurns) return undefined
      unusable = action === undefined ? unusable + 1 : 0
      const said =
        action === undefined
          ? `That names neither a tool nor an answer. Write one of ${actions.map(({ tag }) => `<${tag}>…</${tag}>`).join(', ')}.`
          : `<observation>${await this.#act(action.agent, action.body, signal)}</observation>`
      messages.push({ role: 'user', content: said })
    }
    return undefined
  }

  async #act(agent: Agent, body: string, signal: AbortSignal): Promise<string> {
    this.calls++
    const { payload, problems } = parsePayload(agent, body)
    if (payload === undefined)
      return `This call could not be read: ${problems.at(-1)?.message ?? 'it is empty'}.`
    const { question } = this.#task
    const { text, ok, environment } = await callTool(this.#tools.get(agent.name)!, payload, {
      ...this.#world.calling,
      question,
      signal,
    })
    if (!ok && environment) this.failure ??= { boundary: 'tool', message: text }
    this.tally.addTool(text)
    return text
  }

  #instructions(): string {
    return [
      'You answer a question step by step. In every reply, first think inside <think>…</think>, then do exactly one thing:',
      ...this.#agents.map((agent) => `- ${describeAgent(agent)}`),
      `- ${describeAgent(this.#grammar.answer)}`,
      'After a tool, stop: what it returns is the next message. Answer as soon as you know.',
    ].join('\n')
  }
}

/** The first action after the last thought. */
function actionIn(reply: string, actions: readonly Agent[]): { agent: Agent; body: string } | undefined {
  const spoken = reply.slice(reply.lastIndexOf('</think>') + 1)
  const found = actions
    .map((agent) => ({ agent, at: spoken.indexOf(`<${agent.tag}>`) }))
    .filter(({ at }) => at !== -1)
    .sort((one, other) => one.at - other.at)[0]
  if (found === undefined) return undefined
  const body = spoken.slice(found.at + found.agent.tag.length + 2)
  const close = body.indexOf(`</${found.agent.tag}>`)
  return { agent: found.agent, body: close === -1 ? body : body.slice(0, close) }
}
