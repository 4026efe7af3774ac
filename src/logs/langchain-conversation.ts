import { turnKey } from './chat-turn.ts'
import type { LoggedTool } from './contract.ts'
import { at } from './json.ts'
import { type LangChainMessage, mergeChunks, readLangChainMessage } from './messages/langchain.ts'
import { type ChatRun, itemsOfChat } from './one-chat.ts'
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
  read(): ChatRun {
    const turns = this.#entries.map(({ parts, agent }) => ({
      ...readLangChainMessage(mergeChunks(parts)),
      agent,
    }))
    const { tools, ...run } = itemsOfChat(turns)
    return { ...run, tools: [...tools, ...this.#tools()] }
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
