import { langChainAgent } from './agent-names.ts'
import { at, isObject, listOf, textOf, timeOf } from './json.ts'
import { LangChainConversation } from './langchain-conversation.ts'
import { areLangChainMessages, type LangChainMessage, langChainMessage } from './messages/langchain.ts'

/** A part of a run of LangGraph: a state of its thread, an event of its stream, or a message. */
export type Piece =
  | { kind: 'state'; value: unknown }
  | { kind: 'event'; mode: string; data: unknown; metadata?: unknown; path?: string }
  | { kind: 'message'; message: LangChainMessage }

/** The pieces in a value; none if it is something else. Nodes may also change what is no message. */
export function piecesOf(value: unknown): Piece[] {
  const one = pieceOf(value)
  if (one !== undefined) return [one]
  const pieces = listOf(value).map(pieceOf)
  if (!pieces.some((piece) => piece?.kind === 'event' || piece?.kind === 'state'))
    return pieces.every((piece) => piece !== undefined) ? pieces : []
  return pieces.map((piece, index) => piece ?? otherPiece(listOf(value)[index]))
}

/** Something in a stream that tells no message. */
export const otherPiece = (data: unknown): Piece => ({ kind: 'event', mode: 'other', data })

const MODES =
  /^(?:values|updates|messages(?:\/(?:partial|complete|metadata))?|custom|debug|tasks|checkpoints|metadata|end|error|on_\w+)(?:\||$)/

function pieceOf(value: unknown): Piece | undefined {
  if (Array.isArray(value)) return eventOf(value)
  if (!isObject(value)) return undefined
  const message = langChainMessage(value)
  if (message !== undefined) return { kind: 'message', message }
  if (isState(value)) return { kind: 'state', value }
  if (isUpdate(value)) return { kind: 'event', mode: 'updates', data: value }
  if (/^(?:checkpoint|task|task_result)$/.test(String(value['type'])) && isObject(value['payload']))
    return { kind: 'event', mode: 'debug', data: value }
  const mode = textOf(value['event'])
  if (mode === undefined || !MODES.test(mode) || !('data' in value)) return undefined
  return { kind: 'event', mode, data: value['data'], metadata: value['metadata'] }
}

const isState = (value: Record<string, unknown>): boolean =>
  isObject(value['values']) &&
  ('next' in value || 'metadata' in value || 'checkpoint' in value || 'config' in value)

/** With subgraphs, the path of the graph comes first; with several modes, the mode does. */
function eventOf(value: readonly unknown[]): Piece | undefined {
  const [first, ...rest] = value
  if (isStreamedMessage(value)) return { kind: 'event', mode: 'messages', data: value }
  if (Array.isArray(first) && rest.length > 0 && first.every((node) => typeof node === 'string')) {
    const inner = rest.length === 1 ? pieceOf(rest[0]) : eventOf(rest)
    return inner?.kind === 'event' ? { ...inner, path: first.join('|') } : undefined
  }
  const isEvent =
    value.length === 2 && typeof first === 'string' && MODES.test(first) && typeof rest[0] === 'object'
  return isEvent ? { kind: 'event', mode: first, data: rest[0] } : undefined
}

/** A message with what the graph knows about it. */
export const isStreamedMessage = (value: readonly unknown[]): boolean =>
  value.length === 2 &&
  langChainMessage(value[0]) !== undefined &&
  isObject(value[1]) &&
  langChainMessage(value[1]) === undefined &&
  Object.keys(value[1]).some((key) => /^(?:langgraph_|ls_|checkpoint_|thread_id|run_id|tags$)/.test(key))

/** What nodes of a graph have changed in its state. */
const isUpdate = (value: Record<string, unknown>): boolean =>
  Object.values(value).every((update) => update === null || typeof update === 'object') &&
  Object.values(value).some((update) =>
    (Array.isArray(update) ? update : [update]).some((one) =>
      areLangChainMessages(listed(at(one, 'messages'))),
    ),
  )

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

export const messagesIn = (values: unknown): LangChainMessage[] =>
  listed(values)
    .map(messageOf)
    .filter((message) => message !== undefined)

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

export function threadOf(piece: Piece): string | undefined {
  const inside = piece.kind === 'state' ? piece.value : piece.kind === 'event' ? piece : undefined
  return [
    at(inside, 'config', 'configurable', 'thread_id'),
    at(inside, 'checkpoint', 'thread_id'),
    at(inside, 'metadata', 'thread_id'),
  ]
    .map(textOf)
    .find((id) => id !== undefined)
}

/** Chunks are parts of words, and a graph's events tell about its machinery: of both, only what is whole is compared. */
export function sourceOf(piece: Piece): unknown {
  if (piece.kind === 'state') return at(piece.value, 'values')
  if (piece.kind === 'message') return piece.message.chunk ? undefined : piece.message.data
  const { mode, data } = piece
  if (mode.startsWith('messages') || mode.endsWith('_stream')) return undefined
  if (!/^(?:debug|tasks|checkpoints)/.test(mode)) return data
  const told = mode.startsWith('debug') ? at(data, 'payload') : data
  return [at(told, 'values'), at(told, 'result')]
}

/** What was said in the pieces of one thread. */
export function conversationOf(pieces: readonly Piece[]): LangChainConversation {
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
  { mode, data, metadata, path }: Extract<Piece, { kind: 'event' }>,
): void {
  const kind = mode.split('|')[0]
  const agent = langChainAgent(metadata)
  switch (kind) {
    case 'values':
    case 'checkpoints':
      conversation.add(messagesIn(at(data, 'values', 'messages') ?? at(data, 'messages') ?? []))
      return
    case 'tasks':
      addUpdate(conversation, textOf(at(data, 'name')) ?? '', at(data, 'result'), path)
      return
    case 'debug': {
      const inner = at(data, 'type') === 'checkpoint' ? 'checkpoints' : 'tasks'
      addEvent(conversation, { kind: 'event', mode: inner, data: at(data, 'payload') })
      return
    }
    case 'updates':
      for (const [node, update] of Object.entries(isObject(data) ? data : {}))
        addUpdate(conversation, node, update, path)
      return
    case 'messages': {
      const [message] = messagesIn(at(data, 0) ?? data)
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

/** What a node has written, as an object, as a list of them, or as pairs of a key and a value. */
function addUpdate(
  conversation: LangChainConversation,
  node: string,
  update: unknown,
  path: string | undefined,
): void {
  const agent = langChainAgent({ langgraph_node: node, langgraph_checkpoint_ns: path })
  for (const one of listed(update)) {
    const pair = Array.isArray(one) && one[0] === 'messages' ? one[1] : undefined
    conversation.add(messagesIn(pair ?? at(one, 'messages') ?? []), agent)
  }
}
