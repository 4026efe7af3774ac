import type { ChatCall, ChatResult, ChatTurn } from '../chat-turn.ts'
import type { Json } from '../contract.ts'
import { asJson, asText, at, idOf, isObject, listOf, parsedOr, textOf } from '../json.ts'
import { contentText } from './openai.ts'

type Item = Record<string, unknown>

/**
 * Items of OpenAI's Responses API, as in `input` and `output`. A thought, the text after it and the calls after that are one
 * assistant turn, as the model wrote them in one go.
 */
export function readResponsesItems(items: unknown): ChatTurn[] {
  if (typeof items === 'string') return [{ role: 'user', text: items, calls: [], results: [] }]
  const turns: ChatTurn[] = []
  for (const item of listOf(items)) {
    if (!isObject(item)) continue
    for (const turn of turnsOf(item)) {
      const last = turns.at(-1)
      if (last !== undefined && continues(last, turn)) turns[turns.length - 1] = joined(last, turn)
      else turns.push(turn)
    }
  }
  return turns
}

/** Whether an assistant turn belongs to the one before it: text after a thought, calls after either. */
function continues(last: ChatTurn, { role, text, thought, calls }: ChatTurn): boolean {
  if (role === 'tool') return last.role === 'tool'
  if (role !== 'assistant' || last.role !== 'assistant') return false
  if (thought !== undefined) return false
  return calls.length > 0 || (text !== '' && last.text === '' && last.calls.length === 0)
}

const joined = (last: ChatTurn, turn: ChatTurn): ChatTurn => ({
  ...last,
  text: last.text === '' ? turn.text : last.text,
  calls: [...last.calls, ...turn.calls],
  results: [...last.results, ...turn.results],
})

function turnsOf(item: Item): ChatTurn[] {
  const type = asText(item['type'])
  if (type === 'message' || (type === '' && item['role'] !== undefined)) return [messageOf(item)]
  if (type === 'reasoning') {
    const thought = thoughtOf(item)
    return thought === '' ? [] : [{ role: 'assistant', text: '', thought, calls: [], results: [] }]
  }
  // The JavaScript version of the Agents SDK has results.
  if (/_(?:output|call_result)$/.test(type))
    return [{ role: 'tool', text: '', calls: [], results: [resultOf(item)] }]
  if (type === 'mcp_call' || type.endsWith('_call')) return callTurns(item, type)
  return []
}

function messageOf(item: Item): ChatTurn {
  const role = asText(item['role'])
  return {
    role: role === 'assistant' ? 'assistant' : role === 'user' ? 'user' : 'system',
    text: contentText(item['content']),
    calls: [],
    results: [],
  }
}

/** The reasoning itself where the model is open, else its summary. */
function thoughtOf(item: Item): string {
  const texts = (key: string): string =>
    listOf(item[key])
      .map((part) => asText(at(part, 'text')))
      .join('\n')
  return texts('rawContent') || texts('content') || texts('summary')
}

/** Tools that the server runs have their result in the same item. */
function callTurns(item: Item, type: string): ChatTurn[] {
  const id = idOf(item['call_id']) ?? idOf(item['callId']) ?? idOf(item['id'])
  const call: ChatCall = {
    ...(id === undefined ? {} : { id }),
    tool: toolOf(item, type),
    input: inputOf(item),
  }
  const turn: ChatTurn = { role: 'assistant', text: '', calls: [call], results: [] }
  const output = hostedOutput(item)
  if (output === undefined) return [turn]
  const failed = item['error'] !== undefined && item['error'] !== null
  const result: ChatResult = {
    ...(id === undefined ? {} : { id }),
    output,
    ...(failed ? { ok: false } : {}),
  }
  return [turn, { role: 'tool', text: '', calls: [], results: [result] }]
}

const toolOf = (item: Item, type: string): string => textOf(item['name']) ?? type.replace(/_call$/, '')

function inputOf(item: Item): Json {
  if (item['arguments'] !== undefined) return parsedOr(item['arguments'])
  const input = item['input'] ?? item['code'] ?? item['action'] ?? item['queries']
  return asJson(input)
}

function hostedOutput(item: Item): string | undefined {
  const error = item['error']
  if (error !== undefined && error !== null) return asText(error)
  const output = item['output'] ?? item['outputs'] ?? item['results']
  if (output === undefined || output === null) return undefined
  return Array.isArray(output)
    ? output.map((part) => textOf(at(part, 'logs')) ?? textOf(at(part, 'text')) ?? asText(part)).join('\n')
    : asText(output)
}

function resultOf(item: Item): ChatResult {
  const id = idOf(item['call_id']) ?? idOf(item['callId'])
  const { output } = item
  const text = isObject(output) ? textOf(output['text']) : undefined
  return { ...(id === undefined ? {} : { id }), output: text ?? contentText(output) }
}
