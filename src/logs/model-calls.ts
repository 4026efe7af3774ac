import type { Usage } from '../schema/usage.ts'
import { type ChatTurn, turnKey } from './chat-turn.ts'
import type { LoggedItem } from './contract.ts'
import { SaidBefore } from './said-before.ts'

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
  const written = new SaidBefore()
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
