import { type ChatCall, type ChatTurn, turnKey } from '../chat-turn.ts'
import { asText, at, idOf, isObject, type JsonObject, listOf, parsedOr, textOf } from '../json.ts'
import { pythonValue } from '../python-literal.ts'
import { plainText, readBlocks, readCall, thoughtIn } from './blocks.ts'

/** The fields of a LangChain message, whichever of its forms they were written in. */
export interface LangChainMessage {
  type: 'human' | 'ai' | 'system' | 'tool' | 'chat' | 'remove'
  /** Part of a message that was streamed. */
  chunk: boolean
  id: string | undefined
  data: JsonObject
}

const types: Readonly<Record<string, LangChainMessage['type']>> = {
  human: 'human',
  ai: 'ai',
  system: 'system',
  tool: 'tool',
  function: 'tool',
  chat: 'chat',
  remove: 'remove',
}

/**
 * Reads the constructor form (`{ lc, type: "constructor", id, kwargs }`), that of streams in JavaScript (without `lc`),
 * `{ type, data }`, the flat form and what Python prints (`AIMessage(content=…)`). Undefined for anything else.
 */
export function langChainMessage(value: unknown): LangChainMessage | undefined {
  if (typeof value === 'string') return printedMessage(value)
  if (!isObject(value)) return undefined
  const { type, kwargs, data } = value
  if (isObject(kwargs)) return messageOf(textOf(listOf(value['id']).at(-1)), kwargs)
  if (isObject(data) && 'content' in data) return messageOf(textOf(type), data)
  if ('content' in value) return messageOf(textOf(type) ?? textOf(value['class']), value)
  return undefined
}

function messageOf(name: string | undefined, data: JsonObject): LangChainMessage | undefined {
  const [, kind = '', chunk] = /^(\w+?)(?:Message(Chunk)?)?$/.exec(name ?? '') ?? []
  const type = types[kind.toLowerCase()]
  return type === undefined ? undefined : { type, chunk: chunk !== undefined, id: textOf(data['id']), data }
}

/** Python prints messages without their type: the fields that only some have tell. */
function printedMessage(text: string): LangChainMessage | undefined {
  if (!/^content=/.test(text)) return undefined
  const data = pythonValue(text)
  if (!isObject(data) || !('additional_kwargs' in data || 'tool_call_id' in data)) return undefined
  const metadata = data['response_metadata']
  const isWritten =
    ['tool_calls', 'invalid_tool_calls', 'usage_metadata'].some((key) => key in data) ||
    (isObject(metadata) && Object.keys(metadata).length > 0)
  return messageOf('tool_call_id' in data ? 'tool' : isWritten ? 'ai' : 'human', data)
}

/** Whether two messages are one: ids tell, or else what they say. */
export const sameMessage = (one: LangChainMessage, other: LangChainMessage): boolean =>
  one.id !== undefined && other.id !== undefined
    ? one.id === other.id
    : turnKey(readLangChainMessage(one)) === turnKey(readLangChainMessage(other))

/** A list that starts with such messages; messages of other forms may follow. */
export function areLangChainMessages(values: readonly unknown[]): boolean {
  const first = langChainMessage(values[0])
  return first !== undefined && (first.type !== 'system' || langChainMessage(values[1]) !== undefined)
}

const ROLES = { human: 'user', ai: 'assistant', system: 'system', tool: 'tool' } as const

export function readLangChainMessage({ type, data }: LangChainMessage): ChatTurn {
  const name = nameOf(data)
  if (type === 'tool') {
    const id = idOf(data['tool_call_id'])
    const result = {
      output: plainText(data['content']),
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { tool: name }),
      ...(data['status'] === 'error' ? { ok: false } : {}),
    }
    return { role: 'tool', text: '', calls: [], results: [result] }
  }
  const content = readBlocks(Array.isArray(data['content']) ? data['content'] : [asText(data['content'])])
  const thought = content.thought ?? thoughtBeside(data)
  const inlined = /^<name>([\s\S]*?)<\/name><content>([\s\S]*?)<\/content>$/.exec(content.text)
  const speaker = inlined?.[1] ?? name
  return {
    role: roleOf(type, data),
    ...(speaker === undefined ? {} : { name: speaker }),
    text: inlined?.[2] ?? content.text,
    ...(thought === undefined ? {} : { thought }),
    calls: callsOf(data, content.calls),
    results: content.results,
  }
}

function roleOf(type: LangChainMessage['type'], data: JsonObject): ChatTurn['role'] {
  if (type in ROLES) return ROLES[type as keyof typeof ROLES]
  const role = data['role']
  return role === 'user' || role === 'human' ? 'user' : role === 'system' ? 'system' : 'assistant'
}

/** Agents built by `createAgent` name their messages after the node, which is always `model`. */
const nameOf = (data: JsonObject): string | undefined => {
  const name = textOf(data['name'])
  return name === 'model' || name === '' ? undefined : name
}

function thoughtBeside(data: JsonObject): string | undefined {
  const beside = data['additional_kwargs']
  const thought = textOf(at(beside, 'reasoning_content')) ?? thoughtIn(at(beside, 'reasoning'))
  return thought === '' ? undefined : thought
}

/** Calls appear up to three times: in `tool_calls`, as parts of the content, and as the model's API returned them. */
function callsOf(data: JsonObject, inContent: readonly ChatCall[]): readonly ChatCall[] {
  const read = listOf(data['tool_calls']).map(readCall)
  const invalid = listOf(data['invalid_tool_calls']).map(readCall)
  const beside = data['additional_kwargs']
  const raw = listOf(at(beside, 'tool_calls')).map(readCall)
  const listed = read.length + invalid.length > 0 ? [...read, ...invalid] : inContent
  const calls = listed.length > 0 ? listed : raw
  const legacy = at(beside, 'function_call')
  if (calls.length > 0 || !isObject(legacy)) return calls
  return [{ tool: asText(legacy['name']), input: parsedOr(legacy['arguments']) }]
}

/** A streamed message as a whole, in the flat form: texts are joined, and so are arguments of calls with the same index. */
export function mergeChunks(chunks: readonly LangChainMessage[]): LangChainMessage {
  const first = chunks[0]!
  if (chunks.length === 1) return first
  const all = chunks.map(({ data }) => data)
  const contents = all.map((data) => data['content'])
  const content = contents.every((one) => typeof one === 'string' || one === undefined)
    ? contents.join('')
    : mergeByIndex(
        contents.flatMap((one) => (typeof one === 'string' ? [{ type: 'text', text: one }] : listOf(one))),
      )
  const calls = mergeByIndex(all.flatMap((data) => listOf(data['tool_call_chunks'])))
  const whole = all.flatMap((data) =>
    listOf(data['tool_call_chunks']).length > 0 ? [] : listOf(data['tool_calls']),
  )
  const summary = mergeByIndex(
    all.flatMap((data) => listOf(at(data, 'additional_kwargs', 'reasoning', 'summary'))),
  )
  const thought = all.map((data) => asText(at(data, 'additional_kwargs', 'reasoning_content'))).join('')
  const data = {
    ...Object.assign({}, ...all),
    content,
    tool_calls: [...calls, ...whole],
    additional_kwargs: { reasoning_content: thought, reasoning: { summary } },
  }
  return { ...first, chunk: false, data: thought === '' ? withoutEmptyThought(data) : data }
}

function withoutEmptyThought(data: JsonObject): JsonObject {
  return { ...data, additional_kwargs: { reasoning: at(data, 'additional_kwargs', 'reasoning') } }
}

/** Parts with the same index, or of the same kind where there is none, are one part. */
function mergeByIndex(parts: readonly unknown[]): JsonObject[] {
  const merged = new Map<unknown, JsonObject>()
  for (const part of parts) {
    if (!isObject(part)) continue
    const key = part['index'] ?? part['id'] ?? part['type']
    const before = merged.get(key)
    merged.set(key, before === undefined ? part : joinTexts(before, part))
  }
  return [...merged.values()]
}

const JOINED = new Set(['text', 'reasoning', 'thinking', 'args', 'arguments', 'input', 'partial_json'])

function joinTexts(before: JsonObject, part: JsonObject): JsonObject {
  const joined = { ...before }
  for (const [key, value] of Object.entries(part)) {
    const earlier = joined[key]
    if (JOINED.has(key) && typeof earlier === 'string' && typeof value === 'string')
      joined[key] = earlier + value
    else if (value !== undefined && value !== null && value !== '') joined[key] = value
  }
  return joined
}
