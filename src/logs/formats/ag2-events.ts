import type { ChatCall } from '../chat-turn.ts'
import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { asText, at, isObject, listOf, parsedOr, textOf } from '../json.ts'
import { contentText } from '../messages/openai.ts'
import { itemsOfSpeeches, type Speech } from '../speeches.ts'

/** Event streams of AG2 from 1.0 on: one event per line, with the name of its class and its fields. */
export const ag2Events: LogFormat = {
  name: 'ag2-events',
  title: 'AG2 1.x: event streams',
  matches: (value) => EVENT.test(asText(at(value, 'type'))) && isObject(at(value, 'data')),
  read: readAll,
}

const EVENT = /^(?:ag2|autogen)(?:\.\w+){0,8}\.(?=\w+$)/

async function* readAll(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const files = new Map<string, { where: string; values: unknown[] }>()
  for await (const { value, where } of records) {
    const file = where.replace(/[:#]\d+$/, '')
    const stream = files.get(file) ?? { where, values: [] }
    files.set(file, stream)
    stream.values.push(value)
  }
  for (const { where, values } of files.values()) {
    const { items, leftOut, answer } = itemsOfSpeeches(speechesOf(values), 'events')
    yield { where, source: values, items, leftOut, ...(answer === undefined ? {} : { answer }) }
  }
}

/** Events do not say who caused them, but tasks say who works on them, one inside the other. */
function speechesOf(events: readonly unknown[]): Speech[] {
  const working: string[] = []
  const called = new Set<string>()
  const speeches: Speech[] = []
  let thoughts: string[] = []
  for (const event of events) {
    const kind = asText(at(event, 'type')).replace(EVENT, '')
    const data = at(event, 'data')
    const agent = textOf(at(data, 'agent_name')) ?? working.at(-1) ?? 'agent'
    if (kind === 'ModelReasoning') thoughts.push(wordsOf(data))
    else if (kind === 'TaskStarted') {
      working.push(agent)
      speeches.push({ agent, text: asText(at(data, 'objective')), role: 'user' })
    } else if (kind === 'TaskCompleted' || kind === 'TaskFailed') working.pop()
    else if (kind === 'HumanMessage' || kind === 'ModelRequest')
      speeches.push({ agent, text: wordsOf(data), role: 'user' })
    else if (kind === 'ModelResponse' || kind === 'ToolCallEvent') {
      const message = at(data, 'message')
      const text =
        kind === 'ToolCallEvent' || message === undefined || message === null ? '' : wordsOf(message)
      // A call is in the model's response and an event of its own.
      const list = kind === 'ToolCallEvent' ? [data] : listOf(at(data, 'tool_calls', 'calls'))
      const calls = list.map(callOf).filter(({ id }) => id === undefined || !called.has(id))
      for (const { id } of calls) if (id !== undefined) called.add(id)
      if (text === '' && calls.length === 0) continue
      const thought = thoughts.length === 0 ? {} : { thought: thoughts.join('\n') }
      thoughts = []
      speeches.push({ agent, text, ...thought, calls })
    } else if (kind === 'ToolResultEvent' || kind === 'ToolErrorEvent') {
      const ok = kind === 'ToolResultEvent'
      const id = textOf(at(data, 'parent_id'))
      const output = ok ? wordsOf(at(data, 'result')) : asText(at(data, 'error') ?? at(data, 'content'))
      speeches.push({ agent, text: '', results: [{ output, ok, ...(id === undefined ? {} : { id }) }] })
    }
  }
  if (thoughts.length > 0)
    speeches.push({ agent: working.at(-1) ?? 'agent', text: '', thought: thoughts.join('\n') })
  return speeches
}

/** Text, or the text of all parts. */
function wordsOf(data: unknown): string {
  const content = at(data, 'content') ?? at(data, 'parts') ?? at(data, 'text') ?? (isObject(data) ? '' : data)
  return contentText(Array.isArray(content) ? content.map((part) => at(part, 'content') ?? part) : content)
}

function callOf(call: unknown): ChatCall {
  const id = textOf(at(call, 'id'))
  const tool = asText(at(call, 'name'))
  return { ...(id === undefined ? {} : { id }), tool, input: parsedOr(at(call, 'arguments')) }
}
