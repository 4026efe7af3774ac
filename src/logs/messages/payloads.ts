import type { ChatTurn } from '../chat-turn.ts'
import { asText, at, isObject, type JsonObject, parsedOr, textOf } from '../json.ts'
import { pythonValue } from '../python-literal.ts'
import { readMessage } from './any.ts'

/** The turns in what a model was sent: a list of messages, or a request of a known API, also as JSON. */
export function turnsOfRequest(value: unknown): ChatTurn[] {
  const request = parsedOr(value)
  if (Array.isArray(request)) return turnsOfList(request, 'user')
  if (!isObject(request)) return readMessage(request ?? undefined, 'user')
  const config = request['config'] ?? request['generationConfig']
  const system =
    request['system'] ??
    request['instructions'] ??
    at(config, 'system_instruction') ??
    request['system_instruction']
  const list = ['messages', 'contents', 'input', 'prompt', 'prompts', 'new_message', 'input_messages']
    .map((key) => parsedOr(request[key]))
    .find((found) => found !== null && found !== undefined)
  return [...systemTurns(system), ...turnsOfList(Array.isArray(list) ? list : [list], 'user')]
}

/** The system prompt, where it is apart from the messages: text, parts or a message. */
export function systemTurns(value: unknown): ChatTurn[] {
  const system = parsedOr(value)
  if (system === null || system === '') return []
  if (isObject(system)) return readMessage({ ...system, role: 'system' }, 'system')
  return readMessage({ role: 'system', content: partsOf(system) }, 'system')
}

/** Some libraries list the parts' texts only. */
const partsOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part))
    : value

/** The turns that a model wrote: messages, or a response of a known API, also as JSON. */
export function turnsOfResponse(value: unknown): ChatTurn[] {
  const response = parsedOr(value)
  if (Array.isArray(response)) return turnsOfList(response, 'assistant')
  if (!isObject(response)) return readMessage(response ?? undefined, 'assistant')
  const first = ['choices', 'candidates', 'generations', 'output', 'messages', 'output_messages']
    .map((key) => response[key])
    .find((found) => (Array.isArray(found) && found.length > 0) || isObject(found))
  if (first !== undefined) return turnsOfList(Array.isArray(first) ? first : [first], 'assistant')
  // Google's responses have the message under `content`.
  if (isObject(response['content'])) return turnsOfList([response], 'assistant')
  if (isAnswer(response)) return readMessage(response, 'assistant')
  const text = ['output', 'text', 'completion', 'response', 'answer', 'result', 'raw']
    .map((key) => textOf(response[key]))
    .find((found) => found !== undefined)
  return text === undefined ? [] : readMessage(text, 'assistant')
}

/** Lists of messages may be nested, and choices and generations wrap them. */
function turnsOfList(list: readonly unknown[], role: ChatTurn['role']): ChatTurn[] {
  return list.flatMap((one) => {
    if (Array.isArray(one)) return turnsOfList(one, role)
    if (!isObject(one)) return readMessage(one ?? undefined, role)
    const wrapped = isObject(one['message']) ? one['message'] : one['content']
    const isWrapper = one['role'] === undefined && isObject(wrapped)
    return readMessage(isWrapper ? { role, ...(wrapped as JsonObject) } : one, role)
  })
}

const isAnswer = (value: JsonObject): boolean =>
  ['content', 'parts', 'tool_calls', 'role'].some((key) => value[key] !== undefined)

/** Text of a value that may be a text, a message, a response, or an object with one text in it. */
export function answerText(value: unknown): string | undefined {
  const printed = typeof value === 'string' && /^[A-Z]\w+\(\w+=/.test(value) ? pythonValue(value) : undefined
  if (typeof value === 'string' && printed === undefined && !/^\s*[[{"]/.test(value))
    // An object that Python printed in a way that cannot be read.
    return value.trim() === '' || /^[A-Z]\w+\(\w+=/.test(value) ? undefined : value
  const parsed = printed ?? parsedOr(value)
  if (typeof parsed === 'string') return parsed.trim() === '' ? undefined : parsed
  const last = turnsOfResponse(parsed).at(-1)
  return last === undefined || last.role !== 'assistant' || last.calls.length > 0 || asText(last.text) === ''
    ? undefined
    : last.text
}
