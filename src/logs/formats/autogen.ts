import type { LeftOut, LogFormat, LoggedItem, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { executorMarkup } from '../executed-code.ts'
import { asText, at, isObject, listOf, parsedOr, textOf, timeOf } from '../json.ts'
import { isAutoGenMessage, speechesOfAutoGen } from '../messages/autogen.ts'
import { readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfCalls, type ModelCall } from '../model-calls.ts'
import { itemsOfSpeeches } from '../speeches.ts'

/**
 * Runs of AutoGen from 0.4 on: a task result, the saved state of a team, a model's context, or a file with one message or
 * one event of the logger `autogen_core.events` per line.
 */
export const autogen: LogFormat = {
  name: 'autogen',
  title: 'AutoGen 0.4 and later: task results, team states and events',
  matches: (value) => isAutoGenMessage(value) || isEvent(value) || messagesIn(value).length > 0,
  read: readAll,
  markup: executorMarkup,
}

const events = new Set(['LLMCall', 'LLMStreamEnd', 'LLMStreamStart', 'ToolCall', 'Message', 'MessageDropped'])

/** Lines of the logger: a model's call, a tool's, or a message between agents. */
const isEvent = (value: unknown): boolean =>
  isObject(value) && events.has(asText(value['type'])) && ('agent_id' in value || 'payload' in value)

/** The messages of a task result or context, or the longest thread of a saved state. */
function messagesIn(value: unknown, depth = 0): readonly unknown[] {
  if (Array.isArray(value)) return value.length > 0 && value.every(isAutoGenMessage) ? value : []
  if (!isObject(value) || depth > 8) return []
  const own = [value['messages'], value['message_thread']].map((list) => messagesIn(listOf(list)))
  // In a state, the messages of a thread may be wrapped: `{ message: … }`.
  const inner =
    'agent_states' in value || depth > 0
      ? Object.values(value).map((child) => messagesIn(child, depth + 1))
      : []
  return [...own, ...inner].sort((left, right) => right.length - left.length)[0] ?? []
}

async function* readAll(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  let lines: { file: string; where: string; values: unknown[] } | undefined
  for await (const { value, where } of records) {
    const isLine = isAutoGenMessage(value) || isEvent(value)
    const file = where.replace(/[:#]\d+$/, '')
    if (lines !== undefined && (!isLine || lines.file !== file)) {
      yield runOfLines(lines.values, lines.where)
      lines = undefined
    }
    if (!isLine) yield runOf(messagesIn(value), where, value)
    else if (lines === undefined) lines = { file, where, values: [value] }
    else lines.values.push(value)
  }
  if (lines !== undefined) yield runOfLines(lines.values, lines.where)
}

function runOfLines(values: readonly unknown[], where: string): LoggedRun | Unreadable {
  return values.some(isEvent)
    ? runOfEvents(values.filter(isEvent), where, values)
    : runOf(values, where, values)
}

function runOf(messages: readonly unknown[], where: string, source: unknown): LoggedRun | Unreadable {
  if (messages.length === 0) return { where, problem: 'it has no messages of AutoGen' }
  const { items, leftOut, answer } = itemsOfSpeeches(speechesOfAutoGen(messages))
  return {
    where,
    source: [source],
    items,
    leftOut: [...leftOut, ...passing(messages), ...endOf(source)],
    ...(answer === undefined ? {} : { answer }),
  }
}

/** Who is chosen to speak, requests for input, and pieces of messages that follow as a whole. */
function passing(messages: readonly unknown[]): LeftOut[] {
  const kinds =
    /^(?:SelectSpeakerEvent|SelectorEvent|UserInputRequestedEvent|ModelClientStreamingChunkEvent)$/
  return messages.flatMap((message, index) => {
    const type = asText(at(message, 'type'))
    const text = asText(at(message, 'content'))
    return kinds.test(type) && text !== '' ? { at: `messages[${index}]`, reason: `a ${type}`, text } : []
  })
}

function endOf(source: unknown): LeftOut[] {
  const text = textOf(at(source, 'stop_reason'))
  return text === undefined ? [] : [{ at: 'stop_reason', reason: 'why the work ended', text }]
}

/** Every call of a model repeats the conversation; tool events add results that no model was sent. */
function runOfEvents(lines: readonly unknown[], where: string, source: readonly unknown[]): LoggedRun {
  const calls = lines.flatMap((line): ModelCall[] => {
    const output = outputOf(at(line, 'response'))
    const messages = listOf(at(line, 'messages')).map(readOpenAiMessage)
    if (output === undefined && messages.length === 0) return []
    const time = timeOf(at(line, 'timestamp'))
    const turns = output === undefined ? [] : [readOpenAiMessage(output)]
    return [{ agent: agentOf(line), messages, output: turns, ...(time === undefined ? {} : { at: time }) }]
  })
  const sent = new Set(
    calls.flatMap(({ messages }) => messages.flatMap(({ results }) => results.map(({ output }) => output))),
  )
  const items = itemsOfCalls(calls)
  const unsent = lines.flatMap((line): LoggedItem[] => {
    const output = asText(at(line, 'result'))
    if (at(line, 'type') !== 'ToolCall' || sent.has(output)) return []
    return [{ type: 'returned', agent: agentOf(line), tool: asText(at(line, 'tool_name')), output }]
  })
  const last = calls.at(-1)?.output.at(-1)
  const isAnswer = last !== undefined && last.calls.length === 0 && last.text !== ''
  return {
    where,
    source,
    items: [...items, ...unsent],
    ...(isAnswer ? { answer: last.text } : {}),
  }
}

/** `agent/7f3a` is the agent of that name. */
const agentOf = (line: unknown): string =>
  asText(at(line, 'agent_id'))
    .split('/')[0]!
    .replace(/_[0-9a-f-]{36}$/, '') || 'assistant'

/** A chat completion, or what AutoGen makes of one. */
function outputOf(response: unknown): unknown {
  const body = parsedOr(response)
  const message = at(body, 'choices', 0, 'message')
  if (message !== undefined) return message
  const content = at(body, 'content')
  if (content === undefined) return undefined
  return Array.isArray(content) ? { role: 'assistant', tool_calls: content } : { role: 'assistant', content }
}
