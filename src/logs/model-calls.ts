import type { Usage } from '../schema/usage.ts'
import { type ChatTurn, turnKey } from './chat-turn.ts'
import type { LoggedItem } from './contract.ts'

/** One call of a model: the conversation it was sent, and what it answered. */
export interface ModelCall {
  agent: string
  messages: readonly ChatTurn[]
  output: readonly ChatTurn[]
  at?: number
  usage?: Usage
  /** Why it failed. */
  error?: string
}

/**
 * The items of a run whose log has model calls. Each call repeats the conversation so far, so what an agent was sent or
 * wrote before is left out, and tool results are taken from the first call that contains them. Other events of the log,
 * such as tool spans, are merged in by the caller.
 */
export function itemsOfCalls(calls: readonly ModelCall[]): LoggedItem[] {
  const threads = new Map<string, Thread>()
  /** Results may come back to another agent than the one that called, after a hand-off. */
  const returned = new Set<string>()
  const written = new Written()
  return calls.flatMap((call) => {
    const thread = threads.get(call.agent) ?? new Thread()
    threads.set(call.agent, thread)
    const when = call.at === undefined ? {} : { at: call.at }
    const { agent, usage, error } = call
    const sent = thread.newTurns(call.messages).filter((turn) => !written.has(turn, call.messages))
    const before = itemsOfTurns(sent, agent, returned)
    const after = itemsOfTurns(call.output, agent, returned)
    thread.add(call.output)
    written.add(call.messages)
    written.add(call.output)
    const last = after.findLast(({ type }) => type === 'wrote')
    if (last?.type === 'wrote' && usage !== undefined) last.usage = usage
    const failed: LoggedItem[] = error === undefined ? [] : [{ type: 'failed', agent, message: error }]
    return [...before, ...after, ...failed].map((item) => ({ ...item, ...when }))
  })
}

/** The items of consecutive turns of one agent's conversation. */
export function itemsOfTurns(
  turns: readonly ChatTurn[],
  agent: string,
  returned: Set<string> = new Set(),
): LoggedItem[] {
  const items: LoggedItem[] = []
  let prompt: { role: string; content: string }[] = []
  const flush = (): void => {
    if (prompt.length > 0) items.push({ type: 'prompted', agent, messages: prompt })
    prompt = []
  }
  for (const { role, name, text, thought, calls, results } of turns) {
    for (const { id, tool, output, ok } of results) {
      // The same result is sent to every agent that shares the conversation.
      if (id !== undefined && returned.has(`${id}\0${output}`)) continue
      if (id !== undefined) returned.add(`${id}\0${output}`)
      flush()
      items.push({
        type: 'returned',
        agent,
        output,
        ...(id === undefined ? {} : { call: id }),
        ...(tool === undefined ? {} : { tool }),
        ...(ok === undefined ? {} : { ok }),
      })
    }
    if (role === 'system' || role === 'user') {
      if (text !== '') prompt.push({ role, content: text })
    } else if (text !== '' || thought !== undefined || calls.length > 0) {
      if (role === 'tool' && calls.length === 0) continue
      flush()
      const by = name ?? agent
      items.push({ type: 'wrote', agent: by, text, ...(thought === undefined ? {} : { thought }) })
      for (const { id, tool, input } of calls)
        items.push({ type: 'called', agent: by, tool, input, ...(id === undefined ? {} : { call: id }) })
    }
  }
  flush()
  return items
}

/** What one agent has been sent and has written so far, as often as it was in one conversation. */
class Thread {
  readonly #known = new Map<string, number>()

  newTurns(messages: readonly ChatTurn[]): ChatTurn[] {
    const counts = new Map<string, number>()
    const fresh = messages.filter((turn) => {
      const key = turnKey(turn)
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count > (this.#known.get(key) ?? 0)
    })
    for (const [key, count] of counts) this.#known.set(key, Math.max(count, this.#known.get(key) ?? 0))
    return fresh
  }

  add(turns: readonly ChatTurn[]): void {
    for (const turn of turns) {
      const key = turnKey(turn)
      this.#known.set(key, (this.#known.get(key) ?? 0) + 1)
    }
  }
}

/** What any agent has written and which results it got, to recognize both in the conversations of other agents. */
export class Written {
  readonly #known = new Set<string>()

  add(turns: readonly ChatTurn[]): void {
    for (const turn of turns) for (const key of keysOf(turn, turns)) this.#known.add(key)
  }

  has(turn: ChatTurn, turns: readonly ChatTurn[]): boolean {
    const keys = keysOf(turn, turns)
    return keys.length > 0 && keys.every((key) => this.#known.has(key))
  }
}

/** Calls are known by their ids, other turns by their text, and results without ids by the turn that called. */
function keysOf(turn: ChatTurn, turns: readonly ChatTurn[]): string[] {
  const { role, text, calls, results } = turn
  if (role === 'tool') {
    if (results.some(({ id }) => id !== undefined)) return []
    const caller = turns.slice(0, turns.indexOf(turn)).findLast((one) => one.role === 'assistant')
    return caller === undefined ? [] : [`${turnKey(caller)} ${turnKey(turn)}`]
  }
  if (role !== 'assistant') return []
  if (calls.length === 0) return text.trim() === '' ? [] : [`says ${text.trim()}`]
  return calls.map(({ id, tool, input }) => `calls ${id ?? `${tool} ${JSON.stringify(input)}`}`)
}
