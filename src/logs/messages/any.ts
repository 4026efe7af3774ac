import type { ChatTurn } from '../chat-turn.ts'
import { asText, at, isObject, type JsonObject, listOf, parsedOr, textOf } from '../json.ts'
import { readOpenAiMessage } from './openai.ts'
import { readParts, resultText } from './parts.ts'

const roles: Readonly<Record<string, ChatTurn['role']>> = {
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

/** The turns of one message, whatever its dialect; telemetry mixes them, since every library writes its own. */
export function readMessage(value: unknown, otherwise: ChatTurn['role'] = 'user'): ChatTurn[] {
  if (typeof value === 'string') return [{ role: otherwise, text: value, calls: [], results: [] }]
  if (!isObject(value)) return []
  const item = readItem(value)
  if (item !== undefined) return item
  const message = spelledOut(value)
  const role = roles[asText(message['role'] ?? message['type']).toLowerCase()] ?? otherwise
  const name = textOf(message['name'])
  const parts = [message['parts'], message['contents'], message['content']].map(parsedList).find(isParts)
  const plain = readOpenAiMessage({ ...message, role, ...(parts === undefined ? {} : { content: '' }) })
  if (role === 'tool' && plain.results.length === 1) {
    const turns = parts === undefined ? [] : readParts(role, parts, name)
    if (turns.some(({ results }) => results.length > 0)) return turns
    const [result] = plain.results
    const content = parts ?? message['content']
    return [{ ...plain, results: [{ ...result!, output: resultText(content) }] }]
  }
  if (parts === undefined) return [plain]
  const turns = readParts(role, parts, name)
  const last = turns.findLast(({ results }) => results.length === 0)
  if (last === undefined) return [...turns, ...(plain.calls.length > 0 ? [plain] : [])]
  const thoughts = [plain.thought, last.thought].filter((thought) => thought !== undefined)
  const known = new Set(last.calls.map(({ id }) => id))
  const calls = [...last.calls, ...plain.calls.filter(({ id }) => id === undefined || !known.has(id))]
  const whole = { ...last, calls, ...(thoughts.length === 0 ? {} : { thought: thoughts.join('\n') }) }
  return turns.map((turn) => (turn === last ? whole : turn))
}

/** Items of OpenAI's Responses API, which are no messages. */
function readItem(value: JsonObject): ChatTurn[] | undefined {
  const { type } = value
  const id = textOf(value['call_id'])
  if (type === 'function_call')
    return readParts('assistant', [
      { type: 'tool_call', id, name: value['name'], arguments: value['arguments'] },
    ])
  if (type === 'function_call_output')
    return readParts('tool', [{ type: 'tool_call_response', id, response: value['output'] }])
  if (type !== 'reasoning' || value['role'] !== undefined) return undefined
  const said = [...listOf(value['content']), ...listOf(value['summary'])].map((part) =>
    asText(at(part, 'text')),
  )
  return readParts(
    'assistant',
    said.map((text) => ({ type: 'reasoning', text })),
  )
}

/** A message without the wrappers of OpenInference (`message.role`) and LangChain (`data`, `kwargs`). */
function spelledOut(value: JsonObject): JsonObject {
  const inner = ['message', 'data', 'kwargs'].map((key) => value[key]).find(isObject)
  const message: JsonObject = { ...(isObject(inner) && value['role'] === undefined ? inner : value) }
  if (Array.isArray(value['id'])) message['role'] ??= classRole(asText(value['id'].at(-1)))
  else if (inner !== undefined) message['role'] ??= value['type']
  message['tool_calls'] = listOf(parsedOr(message['tool_calls'])).map((call) =>
    openAiCall(at(call, 'tool_call') ?? call),
  )
  const named = textOf(message['function_call_name'])
  if (named !== undefined)
    message['function_call'] = { name: named, arguments: message['function_call_arguments_json'] }
  return message
}

const classRole = (name: string): string => name.replace(/Message(?:Chunk)?$/, '').toLowerCase()

/** Calls are under `function`, or their fields are side by side, also as `args`, `input` and `toolName`. */
function openAiCall(call: unknown): unknown {
  if (!isObject(call) || isObject(call['function']) || isObject(call['custom'])) return call
  return {
    id: call['id'] ?? call['toolCallId'] ?? call['call_id'],
    name: call['name'] ?? call['toolName'],
    arguments: call['arguments'] ?? call['args'] ?? call['input'] ?? {},
  }
}

/** A list, also as JSON. */
function parsedList(value: unknown): unknown {
  return typeof value === 'string' && /^\s*\[\s*\{/.test(value) ? parsedOr(value) : value
}

const isParts = (value: unknown): value is unknown[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (part) =>
      isObject(part) &&
      [
        'type',
        'text',
        'message_content',
        'functionCall',
        'function_call',
        'functionResponse',
        'function_response',
      ].some((key) => part[key] !== undefined),
  )
