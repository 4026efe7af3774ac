import { langChainAgent, mayBeAgent } from '../agent-names.ts'
import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { at, isObject, listOf, textOf, timeOf } from '../json.ts'
import { LangChainConversation } from '../langchain-conversation.ts'
import { areLangChainMessages, type LangChainMessage, langChainMessage } from '../messages/langchain.ts'

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

/** The messages of a record that is a run. */
function messagesOf(value: unknown): readonly unknown[] | undefined {
  const messages = Array.isArray(value) ? value : listOf(at(value, 'messages') ?? at(value, 'history'))
  return areLangChainMessages(messages) ? messages : undefined
}

/** A part of a run. The parts of one file belong together, unless they name their thread. */
type Piece =
  | { kind: 'state'; value: unknown }
  | { kind: 'event'; mode: string; data: unknown; metadata: unknown }
  | { kind: 'message'; message: LangChainMessage }

function piecesOf(value: unknown): Piece[] {
  const one = pieceOf(value)
  if (one !== undefined) return [one]
  const pieces = listOf(value).map(pieceOf)
  return pieces.every((piece) => piece !== undefined) ? pieces : []
}

const MODES =
  /^(?:values|updates|messages(?:\/(?:partial|complete|metadata))?|custom|debug|tasks|checkpoints|metadata|end|error|on_\w+)(?:\||$)/

function pieceOf(value: unknown): Piece | undefined {
  if (Array.isArray(value)) {
    // With subgraphs, the path of the graph comes first.
    const [mode, data] = value.length === 3 && Array.isArray(value[0]) ? value.slice(1) : value
    const isEvent =
      value.length <= 3 && typeof mode === 'string' && MODES.test(mode) && typeof data === 'object'
    return isEvent ? { kind: 'event', mode, data, metadata: undefined } : undefined
  }
  if (!isObject(value)) return undefined
  const message = langChainMessage(value)
  if (message !== undefined) return { kind: 'message', message }
  if (
    isObject(value['values']) &&
    ('next' in value || 'metadata' in value || 'checkpoint' in value || 'config' in value)
  )
    return { kind: 'state', value }
  const mode = textOf(value['event'])
  if (mode === undefined || !MODES.test(mode) || !('data' in value)) return undefined
  return { kind: 'event', mode, data: value['data'], metadata: value['metadata'] }
}

interface Thread {
  where: string
  pieces: Piece[]
  source: unknown[]
}

async function* read(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const threads = new Map<string, Thread>()
  for await (const { value, where } of records) {
    const messages = messagesOf(value)
    const pieces = messages === undefined ? piecesOf(value) : []
    if (messages !== undefined) {
      const conversation = new LangChainConversation()
      conversation.add(messagesIn(messages))
      yield runOf(conversation, where, [value], textOf(at(value, 'thread_id')) ?? textOf(at(value, 'id')))
    } else if (pieces.length === 0) yield { where, problem: 'it has no messages of LangChain' }
    for (const piece of pieces) {
      const id = threadOf(piece) ?? where.replace(/[:#]\d+$/, '')
      const thread = threads.get(id) ?? { where, pieces: [], source: [] }
      threads.set(id, thread)
      thread.pieces.push(piece)
      thread.source.push(sourceOf(piece))
    }
  }
  for (const [id, thread] of threads) {
    const { where, source } = thread
    yield runOf(conversationOf(thread), where, source, thread.pieces.some(threadOf) ? id : undefined)
  }
}

function runOf(
  conversation: LangChainConversation,
  where: string,
  source: readonly unknown[],
  id?: string,
): LoggedRun {
  return { where, ...(id === undefined ? {} : { id }), ...conversation.read(), source }
}

const messagesIn = (values: unknown): LangChainMessage[] =>
  (Array.isArray(values) ? values : [values]).map(messageOf).filter((message) => message !== undefined)

/** Programs may also put messages of OpenAI's form into a state. */
function messageOf(value: unknown): LangChainMessage | undefined {
  const types: Record<string, string> = { user: 'human', assistant: 'ai', developer: 'system' }
  const role = textOf(at(value, 'role'))
  return (
    langChainMessage(value) ??
    (isObject(value) && role !== undefined
      ? langChainMessage({ content: '', ...value, type: types[role] ?? role })
      : undefined)
  )
}

function threadOf(piece: Piece): string | undefined {
  const inside = piece.kind === 'state' ? piece.value : piece.kind === 'event' ? piece : undefined
  return [
    at(inside, 'config', 'configurable', 'thread_id'),
    at(inside, 'checkpoint', 'thread_id'),
    at(inside, 'metadata', 'thread_id'),
  ]
    .map(textOf)
    .find((id) => id !== undefined)
}

/** Chunks are parts of words, so what a stream says is compared where it is whole. */
function sourceOf(piece: Piece): unknown {
  if (piece.kind === 'state') return at(piece.value, 'values')
  if (piece.kind === 'message') return piece.message.chunk ? undefined : piece.message.data
  return piece.mode.startsWith('messages') || piece.mode.endsWith('_stream') ? undefined : piece.data
}

function conversationOf({ pieces }: Thread): LangChainConversation {
  const conversation = new LangChainConversation()
  const states = pieces.flatMap((piece) => (piece.kind === 'state' ? piece.value : []))
  for (const state of [...states].sort(byAge))
    conversation.add(messagesIn(at(state, 'values', 'messages') ?? []))
  for (const piece of pieces) {
    if (piece.kind === 'event') addEvent(conversation, piece)
    else if (piece.kind === 'message') conversation.stream(piece.message, undefined)
  }
  return conversation
}

/** Histories begin with the newest state. */
function byAge(one: unknown, other: unknown): number {
  const age = (state: unknown): number => timeOf(at(state, 'created_at')) ?? 0
  const step = (state: unknown): number => Number(at(state, 'metadata', 'step') ?? 0)
  return age(one) - age(other) || step(one) - step(other)
}

function addEvent(
  conversation: LangChainConversation,
  { mode, data, metadata }: Extract<Piece, { kind: 'event' }>,
): void {
  const kind = mode.split('|')[0]
  const agent = langChainAgent(metadata)
  switch (kind) {
    case 'values':
      conversation.add(messagesIn(at(data, 'messages') ?? []))
      return
    case 'updates':
      for (const [node, update] of Object.entries(isObject(data) ? data : {}))
        conversation.add(messagesIn(at(update, 'messages') ?? []), mayBeAgent(node) ? node : undefined)
      return
    case 'messages': {
      // A message with what the graph knows about it.
      const message = messageOf(at(data, 0) ?? data)
      if (message !== undefined) conversation.stream(message, langChainAgent(at(data, 1)))
      return
    }
    case 'messages/partial':
    case 'messages/complete':
      conversation.add(messagesIn(data))
      return
    case 'on_chat_model_start':
      conversation.add(listOf(at(data, 'input', 'messages')).flatMap(messagesIn))
      return
    case 'on_chat_model_stream':
      for (const message of messagesIn(at(data, 'chunk'))) conversation.stream(message, agent)
      return
    case 'on_chat_model_end':
    case 'on_tool_end':
      conversation.add(messagesIn(at(data, 'output')), agent)
      return
    default:
  }
}
