import type { ChatTurn } from '../chat-turn.ts'
import { asText, at, isObject, listOf, parsedOr, textOf } from '../json.ts'
import { contentText, readOpenAiMessage } from './openai.ts'

/**
 * What the OpenAI Agents SDK logs as input or output: chat messages, items of the Responses API in the spelling of its Python
 * or JavaScript version, or a whole response of either API. Every item is a turn of its
 * own, so that it is recognized when it is sent again.
 */
export function readAgentsItems(value: unknown): ChatTurn[] {
  if (typeof value === 'string')
    return value === '' ? [] : [{ role: 'user', text: value, calls: [], results: [] }]
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  return items.flatMap((item) => {
    const inner = responseIn(item)
    return inner === undefined ? turnOf(item) : readAgentsItems(inner)
  })
}

/** The messages or items of a chat completion or a response. */
function responseIn(item: unknown): unknown {
  const choices = listOf(at(item, 'choices')).map((choice) => at(choice, 'message'))
  if (choices.length > 0) return choices
  return at(item, 'type') === undefined && Array.isArray(at(item, 'output')) ? at(item, 'output') : undefined
}

function turnOf(item: unknown): ChatTurn[] {
  const type = asText(at(item, 'type'))
  if (type === '' && isObject(item)) return [readOpenAiMessage(item)]
  if (type === 'message') {
    const role = asText(at(item, 'role'))
    const known = role === 'assistant' || role === 'user' ? role : 'system'
    return [{ role: known, text: contentText(at(item, 'content')), calls: [], results: [] }]
  }
  if (type === 'reasoning') {
    const parts = ['rawContent', 'content', 'summary'].map((key) => contentText(at(item, key) ?? []))
    const thought = parts.find((part) => part !== '')
    return thought === undefined ? [] : [{ role: 'assistant', text: '', thought, calls: [], results: [] }]
  }
  const id = textOf(at(item, 'call_id')) ?? textOf(at(item, 'callId')) ?? textOf(at(item, 'id'))
  const named = id === undefined ? {} : { id }
  if (/(?:_output|_result)$/.test(type)) {
    const output = at(item, 'output') ?? at(item, 'result')
    return [{ role: 'tool', text: '', calls: [], results: [{ ...named, output: outputText(output) }] }]
  }
  if (!/(?:_call|^program)$/.test(type)) return []
  const tool = textOf(at(item, 'name')) ?? type.replace(/_call$/, '')
  const given = ['arguments', 'input', 'code', 'action', 'queries'].map((key) => at(item, key))
  const input = parsedOr(given.find((one) => one !== undefined))
  return [{ role: 'assistant', text: '', calls: [{ ...named, tool, input }], results: [] }]
}

/** Text, a part with text, or parts. */
export const outputText = (output: unknown): string =>
  isObject(output) && typeof output['text'] === 'string' ? output['text'] : contentText(output)
