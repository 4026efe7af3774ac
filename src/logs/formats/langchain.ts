import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { at, listOf, textOf } from '../json.ts'
import { LangChainConversation } from '../langchain-conversation.ts'
import {
  conversationOf,
  isStreamedMessage,
  messagesIn,
  otherPiece,
  type Piece,
  piecesOf,
  sourceOf,
  threadOf,
} from '../langgraph-pieces.ts'
import { areLangChainMessages, type LangChainMessage, sameMessage } from '../messages/langchain.ts'

/**
 * Messages of LangChain in any of their forms: lists of them, states and histories of LangGraph's threads, and streams,
 * whole or one event or message on each line.
 */
export const langchain: LogFormat = {
  name: 'langchain',
  title: 'LangChain messages, LangGraph thread states and streams',
  matches: (value) => messagesOf(value) !== undefined || piecesOf(value).length > 0,
  read,
}

/** The messages of a record that is a run, or a state of one. */
function messagesOf(value: unknown): readonly unknown[] | undefined {
  const messages = Array.isArray(value) ? value : listOf(at(value, 'messages') ?? at(value, 'history'))
  return areLangChainMessages(messages) && !isStreamedMessage(messages) ? messages : undefined
}

/** The parts of one file belong together, unless they name their thread. */
interface Thread {
  where: string
  pieces: Piece[]
  source: unknown[]
}

async function* read(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const threads = new Map<string, Thread>()
  let last: Chat | undefined
  for await (const { value, where } of records) {
    const file = where.replace(/[:#]\d+$/, '')
    const messages = messagesOf(value)
    const known = messages === undefined ? piecesOf(value) : []
    const isOther = messages === undefined && known.length === 0 && threads.has(file)
    const pieces = isOther ? [otherPiece(value)] : known
    if (messages !== undefined) {
      const read = messagesIn(messages)
      if (last?.continuesWith(read, file) !== true) {
        if (last !== undefined) yield last.run()
        last = new Chat(where, file)
      }
      last.add(read, value)
    } else if (pieces.length === 0) yield { where, problem: 'it has no messages of LangChain' }
    for (const piece of pieces) {
      const id = threadOf(piece) ?? file
      const thread = threads.get(id) ?? { where, pieces: [], source: [] }
      threads.set(id, thread)
      thread.pieces.push(piece)
      thread.source.push(sourceOf(piece))
    }
  }
  if (last !== undefined) yield last.run()
  for (const [id, { where, source, pieces }] of threads) {
    const named = pieces.some(threadOf) ? { id } : {}
    yield { where, ...named, ...conversationOf(pieces).read(), source }
  }
}

/** A run whose messages are in one record, or in several of a file, each of which repeats the one before and adds to it. */
class Chat {
  readonly #where: string
  readonly #file: string
  readonly #conversation = new LangChainConversation()
  readonly #source: unknown[] = []
  #messages: readonly LangChainMessage[] = []

  constructor(where: string, file: string) {
    this.#where = where
    this.#file = file
  }

  continuesWith(messages: readonly LangChainMessage[], file: string): boolean {
    const before = this.#messages
    const adds = messages.length > before.length || before.some(({ id }) => id !== undefined)
    return (
      file === this.#file &&
      adds &&
      messages.length >= before.length &&
      before.every((message, index) => sameMessage(message, messages[index]!))
    )
  }

  add(messages: readonly LangChainMessage[], value: unknown): void {
    this.#messages = messages
    this.#conversation.add(messages)
    this.#source.push(value)
  }

  run(): LoggedRun {
    const value = this.#source.at(-1)
    const id = textOf(at(value, 'thread_id')) ?? textOf(at(value, 'id'))
    return {
      where: this.#where,
      ...(id === undefined ? {} : { id }),
      ...this.#conversation.read(),
      source: this.#source,
    }
  }
}
