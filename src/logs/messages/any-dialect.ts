import { parseJson } from '../../schema/index.ts'
import type { ChatCall, ChatTurn } from '../chat-turn.ts'
import { asText, at, isObject, type JsonObject, listOf, objectOf, textOf } from '../json.ts'
import { pythonValue } from '../python-literal.ts'
import { plainText, readBlocks, readCall, thoughtIn } from './blocks.ts'
import { langChainMessage, readLangChainMessage } from './langchain.ts'
import { isOpenAiMessage, readOpenAiMessage } from './openai.ts'

/** Whose words a value is if it does not say. */
export type Side = 'user' | 'assistant'

/**
 * The turns in what a model was sent or answered, as observability tools keep it: messages of any dialect, alone or in
 * lists, requests and responses of model APIs, JSON or Python in a text, transcripts, or plain text.
 */
export function turnsIn(value: unknown, side: Side): ChatTurn[] {
  const inner = parsedText(value)
  if (typeof inner === 'string') return transcriptIn(inner) ?? [turn(side, inner)]
  if (Array.isArray(inner)) return turnsOfList(inner, side)
  return isObject(inner) ? turnsOfObject(inner, side) : []
}

/** Text that is JSON, even twice, or a printed Python value: that value. */
export function parsedText(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? undefined
  if (!/^\s*[[{"]/.test(value)) return pythonValue(value) ?? value
  try {
    const parsed = parseJson(value)
    return typeof parsed === 'string' && value.length > parsed.length ? parsedText(parsed) : parsed
  } catch {
    return pythonValue(value) ?? value
  }
}

function turnsOfList(values: readonly unknown[], side: Side): ChatTurn[] {
  // LangChain sends batches: a list of conversations, of which tracers see one.
  if (values.length > 0 && values.every((value) => Array.isArray(value)))
    return values.flatMap((value) => turnsOfList(value, side))
  if (values.some((value) => 'type' in Object(value) && responsesItem(value) !== undefined))
    return turnsOfItems(values, side)
  if (values.length > 0 && values.every(isBlock)) return [contentTurn(side, values)]
  const called = new Set<string>()
  return values.flatMap((value) => {
    const turns =
      typeof value === 'string'
        ? turnsIn(value, side)
        : called.has(asText(at(value, 'role')))
          ? turnsOfMessage({ ...objectOf(value), role: 'tool', name: at(value, 'role') }, side)
          : turnsOfMessage(value, side)
    // Langfuse's integration with LangChain.js gives results the role of their tool.
    for (const { calls } of turns) for (const { tool } of calls) called.add(tool)
    return turns
  })
}

const isBlock = (value: unknown): boolean =>
  isObject(value) &&
  value['role'] === undefined &&
  langChainMessage(value) === undefined &&
  ('toolName' in value ||
    /^(?:text|thinking|reasoning|tool[_-](?:use|call|result))$/.test(asText(value['type'])))

function turnsOfMessage(value: unknown, side: Side): ChatTurn[] {
  const message = at(value, 'message') ?? value
  // An answer of a model that completes text.
  const text = textOf(at(message, 'text'))
  if (text !== undefined && !('role' in Object(message))) return [turn(side, text)]
  return isObject(message) ? (readMessage(message) ?? turnsOfObject(message, side)) : []
}

/** Undefined for an object that is no message. */
function readMessage(message: JsonObject): ChatTurn[] | undefined {
  const langChain = langChainMessage(message)
  if (langChain !== undefined) return langChain.type === 'remove' ? [] : [readLangChainMessage(langChain)]
  const role = roleOf(message['role'])
  if (role === undefined) return undefined
  const { parts, content } = message
  if (Array.isArray(parts)) return [contentTurn(role, parts, textOf(message['name']))]
  if (isObject(content) && Array.isArray(content['parts'])) return [contentTurn(role, content['parts'])]
  if ('contents' in message || (Array.isArray(content) && !isOpenAiMessage(message)))
    return [withFields(contentTurn(role, listOf(content ?? message['contents'])), message, role)]
  const plain = {
    ...message,
    role,
    content: isObject(content) ? asText(content) : (content ?? message['text']),
  }
  return [withFields(readOpenAiMessage(plain), message, role)]
}

const ROLES: Readonly<Record<string, ChatTurn['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
}

const roleOf = (role: unknown): ChatTurn['role'] | undefined => ROLES[asText(role).toLowerCase()]

/** With the calls and the result id that a message has next to its content. */
function withFields(read: ChatTurn, message: JsonObject, role: ChatTurn['role']): ChatTurn {
  const beside = message['additional_kwargs']
  const unwrapped = [...listOf(message['tool_calls']), ...listOf(at(beside, 'tool_calls'))].map(
    (call) => at(call, 'tool_call') ?? call,
  )
  const calls =
    read.calls.length > 0 && read.calls[0]!.tool !== '' ? read.calls : unique(unwrapped.map(readCall))
  const id = textOf(message['tool_call_id']) ?? textOf(at(beside, 'tool_call_id'))
  const written = callsInText(read.results[0]?.output ?? read.text)
  if (written.length > 0) return { role: 'assistant', text: '', calls: written, results: [] }
  const isResult = role === 'tool' && read.results.length === 0 && read.text !== ''
  const results = isResult ? [{ output: read.text, ...(id === undefined ? {} : { id }) }] : read.results
  return { ...read, calls, results, text: isResult ? '' : read.text }
}

/** Some instrumentations write calls into the text. */
function callsInText(text: string): ChatCall[] {
  if (!/^\s*\[\s*\{\s*"/.test(text)) return []
  const read = listOf(parsedText(text))
  const areCalls = read.every(
    (one) => at(one, 'type') === 'function' && textOf(at(one, 'function', 'name')) !== undefined,
  )
  return areCalls ? read.map(readCall) : []
}

function unique(calls: readonly ChatCall[]): ChatCall[] {
  return [...new Map(calls.map((call, index) => [call.id ?? index, call])).values()]
}

function contentTurn(role: ChatTurn['role'], blocks: readonly unknown[], name?: string): ChatTurn {
  return { role, ...(name === undefined ? {} : { name }), ...readBlocks(blocks) }
}

const turn = (role: ChatTurn['role'], text: string): ChatTurn => ({ role, text, calls: [], results: [] })

/** Fields with the words of a request, a response or a state, in the order in which they are tried. */
const LISTS = ['messages', 'contents', 'generations', 'choices', 'candidates', 'prompts', 'args'] as const
const INSIDE = ['message', 'input', 'output', 'content', 'new_message', 'kwargs', 'response'] as const
const TEXTS = ['prompt', 'question', 'query', 'text', 'answer', 'result', 'raw', 'completion'] as const

function turnsOfObject(value: JsonObject, side: Side): ChatTurn[] {
  const message = readMessage(value)
  if (message !== undefined) return message
  const instructions =
    value['system'] ??
    value['instructions'] ??
    value['system_instruction'] ??
    at(value, 'config', 'system_instruction')
  const system = typeof instructions === 'string' && instructions !== '' ? [turn('system', instructions)] : []
  return [...system, ...wordsOf(value, side)]
}

function wordsOf(value: JsonObject, side: Side): ChatTurn[] {
  for (const key of LISTS) {
    const inner = value[key]
    if (Array.isArray(inner) && inner.length > 0) return turnsOfList(inner, side)
    if (key === 'contents' && typeof inner === 'string') return [turn(side, inner)]
  }
  for (const key of INSIDE) {
    const inner = value[key]
    if (isObject(inner) && Array.isArray(inner['parts']))
      return [contentTurn(roleOf(inner['role']) ?? side, inner['parts'])]
    const turns = typeof inner === 'object' ? turnsIn(inner, side) : []
    if (turns.length > 0) return turns
  }
  const texts = Object.keys(value).filter((key) => typeof value[key] === 'string')
  // What a model answers may be an object with such fields; it is kept as a whole.
  const found = [...INSIDE, ...TEXTS].find((key) => texts.includes(key))
  if (found !== undefined && (side === 'user' || Object.keys(value).length === 1))
    return [turn(side, value[found] as string)]
  return Object.keys(value).length === 0 ? [] : [turn(side, JSON.stringify(value))]
}

/** Items of OpenAI's Responses API: what one answer consists of is one turn. */
function turnsOfItems(items: readonly unknown[], side: Side): ChatTurn[] {
  const turns: ChatTurn[] = []
  for (const item of items) {
    const next = responsesItem(item)
    const read = next === undefined ? turnsOfMessage(item, side) : [next]
    for (const one of read) {
      const last = turns.at(-1)
      if (last !== undefined && continues(last, one)) turns[turns.length - 1] = joined(last, one)
      else turns.push(one)
    }
  }
  return turns
}

/** An answer is a thought, then words, then calls, each of which may be missing. */
function continues(last: ChatTurn, next: ChatTurn): boolean {
  if (last.role !== 'assistant' || next.role !== 'assistant') return false
  if (next.calls.length > 0) return true
  return last.text === '' && last.calls.length === 0
}

function responsesItem(item: unknown): ChatTurn | undefined {
  if (!isObject(item) || 'role' in item) return undefined
  switch (item['type']) {
    case 'reasoning': {
      if (!('summary' in item)) return undefined
      const thought = thoughtIn({ content: item['content'], summary: item['summary'] })
      return { ...turn('assistant', ''), ...(thought === '' ? {} : { thought }) }
    }
    case 'function_call':
    case 'custom_tool_call':
      return { ...turn('assistant', ''), calls: [readCall(item)] }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const id = textOf(item['call_id'])
      const result = { output: plainText(item['output']), ...(id === undefined ? {} : { id }) }
      return { ...turn('tool', ''), results: [result] }
    }
    default:
      return undefined
  }
}

function joined(first: ChatTurn, second: ChatTurn): ChatTurn {
  const join = (one = '', other = ''): string => [one, other].filter((text) => text !== '').join('\n')
  const thought = join(first.thought, second.thought)
  return {
    ...first,
    ...second,
    text: join(first.text, second.text),
    ...(thought === '' ? {} : { thought }),
    calls: [...first.calls, ...second.calls],
    results: [...first.results, ...second.results],
  }
}

/** Some instrumentations write a conversation as one text: `system: …`, then `user: …`. */
function transcriptIn(text: string): ChatTurn[] | undefined {
  const parts = text.split(/^(system|developer|user|assistant|tool): /m)
  if (parts[0] !== '' || parts.length < 3) return undefined
  const turns: ChatTurn[] = []
  for (let index = 1; index < parts.length; index += 2) {
    const role = roleOf(parts[index])!
    const words = parts[index + 1]!.replace(/\n$/, '')
    if (words !== 'None')
      turns.push(role === 'tool' ? { ...turn(role, ''), results: [{ output: words }] } : turn(role, words))
  }
  return turns
}
