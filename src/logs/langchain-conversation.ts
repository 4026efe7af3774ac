import { type ChatTurn, turnKey } from './chat-turn.ts'
import type { LoggedItem, LoggedRun, LoggedTool } from './contract.ts'
import { handOffTo, withHandOffs } from './hand-offs.ts'
import { at } from './json.ts'
import { type LangChainMessage, mergeChunks, readLangChainMessage } from './messages/langchain.ts'
import { itemsOfTurns } from './model-calls.ts'
import { toolsOf } from './record-head.ts'

interface Entry {
  id: string | undefined
  /** More than one while a message is streamed. */
  parts: LangChainMessage[]
  agent: string | undefined
}

/**
 * The messages of one thread. States repeat all earlier messages and streams send them in chunks; ids tell which is which,
 * and messages without ids are the same if they say the same in the same place.
 */
export class LangChainConversation {
  readonly #entries: Entry[] = []
  readonly #byId = new Map<string, Entry>()
  readonly #byWords = new Map<string, Entry[]>()

  /** Whole messages that follow each other. */
  add(messages: readonly LangChainMessage[], agent?: string): void {
    const counts = new Map<string, number>()
    for (const message of messages) {
      if (message.type === 'remove') continue
      const key = turnKey(readLangChainMessage(message))
      const count = counts.get(key) ?? 0
      counts.set(key, count + 1)
      const entry = this.#known(message, key, count)
      if (entry === undefined) this.#push(message, agent, key)
      else {
        entry.parts = [message]
        entry.agent ??= agent
      }
    }
  }

  /** A chunk, or a whole message in a stream. */
  stream(message: LangChainMessage, agent: string | undefined): void {
    const entry = message.id === undefined ? undefined : this.#byId.get(message.id)
    if (entry === undefined || !message.chunk) this.add([message], agent)
    else entry.parts.push(message)
  }

  /** Who wrote what is known by names, by the nodes of the graph, or by who work was handed to. */
  read(): Pick<LoggedRun, 'items' | 'leftOut' | 'tools' | 'answer'> {
    const turns = this.#entries.map(({ parts, agent }) => ({
      ...readLangChainMessage(mergeChunks(parts)),
      agent,
    }))
    const returned = new Set<string>()
    const callers = new Map<string | undefined, { agent: string; tool: string }>()
    const first = turns.find(({ role }) => role === 'assistant')
    let current = first?.name ?? first?.agent ?? 'assistant'
    const items = turns.flatMap((turn) => {
      const by = speakerOf(turn, current)
      for (const { id, tool } of turn.calls) callers.set(id, { agent: by, tool })
      const caller = turn.role === 'tool' ? callers.get(turn.results[0]?.id) : undefined
      const to = caller === undefined ? undefined : handOffTo(caller.tool, turn.results[0]!.output)
      if (to !== undefined) current = to
      return itemsOfTurns(
        [{ ...turn, ...(turn.role === 'tool' ? {} : { name: by }) }],
        caller?.agent ?? by,
        returned,
      )
    })
    const last = turns.findLast(
      ({ text, calls, results }) => text !== '' || calls.length + results.length > 0,
    )
    const ends = last?.role === 'assistant' && last.calls.length === 0 && last.text !== ''
    const { tools, ...read } = withHandOffs(joinedPrompts(items))
    return { ...read, tools: [...tools, ...this.#tools()], ...(ends ? { answer: last.text } : {}) }
  }

  /** Tools that a model's API repeats in its answer. */
  #tools(): LoggedTool[] {
    return this.#entries.flatMap(({ parts }) => toolsOf(at(parts.at(-1)!.data, 'response_metadata', 'tools')))
  }

  #known({ id }: LangChainMessage, key: string, count: number): Entry | undefined {
    const same = id === undefined ? undefined : this.#byId.get(id)
    if (same !== undefined) return same
    const alike = this.#byWords.get(key)?.[count]
    if (alike === undefined || (alike.id !== undefined && id !== undefined)) return undefined
    if (id !== undefined) this.#byId.set(id, alike)
    alike.id ??= id
    return alike
  }

  #push(message: LangChainMessage, agent: string | undefined, key: string): void {
    const entry = { id: message.id, parts: [message], agent }
    this.#entries.push(entry)
    if (message.id !== undefined) this.#byId.set(message.id, entry)
    const alike = this.#byWords.get(key)
    if (alike === undefined) this.#byWords.set(key, [entry])
    else alike.push(entry)
  }
}

function speakerOf({ role, name, agent }: ChatTurn & { agent: string | undefined }, current: string): string {
  return role === 'assistant' ? (name ?? agent ?? current) : current
}

/** A system prompt and the question are one prompt. */
function joinedPrompts(items: readonly LoggedItem[]): LoggedItem[] {
  const joined: LoggedItem[] = []
  for (const item of items) {
    const last = joined.at(-1)
    if (item.type === 'prompted' && last?.type === 'prompted' && last.agent === item.agent)
      joined[joined.length - 1] = { ...last, messages: [...last.messages, ...item.messages] }
    else joined.push(item)
  }
  return joined
}
