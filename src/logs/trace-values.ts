import type { ChatTurn } from './chat-turn.ts'
import type { Json, LoggedRun } from './contract.ts'
import { asJson, asText, at, isObject, listOf, textOf, timeOf } from './json.ts'
import { parsedText, turnsIn } from './messages/any-dialect.ts'
import { plainText } from './messages/blocks.ts'
import { langChainMessage, readLangChainMessage } from './messages/langchain.ts'

/** What a tool was given: its arguments, or the whole call that LangChain passes to it. */
export function toolInput(value: unknown): { input: Json; call?: string; tool?: string } {
  const read = parsedText(value)
  if (at(read, 'type') === 'tool_call' && at(read, 'args') !== undefined) {
    const [call, tool] = [textOf(at(read, 'id')), textOf(at(read, 'name'))]
    return {
      input: asJson(at(read, 'args')),
      ...(call === undefined ? {} : { call }),
      ...(tool === undefined ? {} : { tool }),
    }
  }
  // Tracers put what is not an object into a field `input`.
  const alone = isObject(read) && Object.keys(read).length === 1 ? read['input'] : undefined
  return alone === undefined ? { input: asJson(read) } : toolInput(alone)
}

/** What a tool returned, as the model reads it, with the id of the call where a message says so. */
export function toolOutput(value: unknown): { output: string; call?: string; tool?: string; ok?: boolean } {
  const read =
    typeof value === 'string' && !/^\s*[[{"]|^content=|Message\(|^Command\(/.test(value)
      ? value
      : parsedText(value)
  const message = langChainMessage(
    isObject(read) && 'tool_call_id' in read ? { ...read, type: 'tool' } : read,
  )
  if (message?.type === 'tool') {
    const [{ output, id, tool, ok } = { output: '' }] = readLangChainMessage(message).results
    return { output, ...(id && { call: id }), ...(tool && { tool }), ...(ok === undefined ? {} : { ok }) }
  }
  if (isObject(read)) {
    const sent = listOf(at(read, 'update', 'messages')).at(-1)
    if (sent !== undefined) return toolOutput(sent)
    const keys = Object.keys(read)
    if (keys.length === 1 && 'output' in read) return toolOutput(read['output'])
    if (
      Array.isArray(read['content']) &&
      keys.every((key) => ['content', 'isError', 'structuredContent'].includes(key))
    )
      return { output: plainText(read['content']), ...(read['isError'] === true ? { ok: false } : {}) }
  }
  // Text that happens to be JSON stays as it was written; JSON of a text is that text.
  return { output: typeof value === 'string' && typeof read !== 'string' ? value : plainText(read) }
}

/** What the run was asked, if its input says so. */
export function questionIn(value: unknown): string | undefined {
  const turns = turnsIn(value, 'user')
  const asked = turns.findLast(({ role, text }) => role === 'user' && text !== '')
  return asked?.text
}

/** How the run ended, if its output says so. */
export function answerIn(value: unknown): string | undefined {
  const read = parsedText(value)
  for (const key of ['final_answer', 'answer', 'output', 'result', 'response', 'raw', 'text']) {
    const text = textOf(at(read, key))
    if (text !== undefined && text !== '') return text
  }
  const last: ChatTurn | undefined = turnsIn(value, 'assistant').at(-1)
  const ends = last?.role === 'assistant' && last.calls.length === 0 && last.text !== ''
  return ends ? last.text : undefined
}

/** The text that a run ends with, if its last turn does not call a tool. */
export function lastWords(items: LoggedRun['items']): string | undefined {
  const last = items.findLast(({ type }) => type !== 'failed')
  return last?.type === 'wrote' && last.text !== '' ? last.text : undefined
}

/** A time in milliseconds, with the microseconds that decide the order of steps. */
export function preciseTime(value: unknown): number | undefined {
  const time = timeOf(value)
  if (time === undefined || typeof value !== 'string') return time
  const micro = /\.\d{3}(\d{1,6})/.exec(value)?.[1]
  return micro === undefined ? time : time + Number(`0.${micro}`)
}

/** Why a step failed, from a text or an object with a message. */
export const errorIn = (value: unknown): string | undefined => {
  const text = textOf(at(value, 'message')) ?? asText(value)
  return text === '' ? undefined : text
}

/** Langfuse's integration with LangChain appends the offered tools as messages. */
export const isDefinition = ({ role, results }: ChatTurn): boolean =>
  role === 'tool' && results.length > 0 && results.every(({ output }) => definitionIn(output) !== undefined)

export function definitionIn(output: string): unknown {
  const value = output.startsWith('{') ? parsedText(output) : undefined
  return at(value, 'type') === 'function' && isObject(at(value, 'function')) ? value : undefined
}
