import type { ChatTurn } from '../chat-turn.ts'
import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { asText, at, idOf, isObject, listOf, textOf, timeOf } from '../json.ts'
import { readMessage } from '../messages/any.ts'
import { unwrapped } from '../messages/parts.ts'
import { itemsOfChat } from '../one-chat.ts'

/** Events of Google's Agent Development Kit, one on each line or in the sessions that keep them. */
export const googleAdk: LogFormat = {
  name: 'google-adk',
  title: "Sessions and events of Google's ADK",
  matches: (value) => isSession(value) || isEvent(value),
  read,
}

const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['author'] === 'string' &&
  ('invocation_id' in value || 'invocationId' in value) &&
  ('content' in value || 'actions' in value)

const isSession = (value: unknown): boolean => {
  const events = listOf(at(value, 'events'))
  return events.length > 0 && events.every(isEvent)
}

async function* read(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const files = new Map<string, { where: string; events: unknown[] }>()
  for await (const { value, where } of records) {
    if (isSession(value)) {
      const run = runOf(listOf(at(value, 'events')), where, idOf(at(value, 'id')))
      yield { ...run, source: [{ ...(value as object), events: run.source }] }
    } else if (isEvent(value)) {
      const file = where.replace(/[:#]\d+$/, '')
      const stream = files.get(file) ?? { where, events: [] }
      files.set(file, stream)
      stream.events.push(value)
    } else yield { where, problem: 'it is neither a session nor an event of the ADK' }
  }
  for (const { where, events } of files.values()) yield runOf(events, where)
}

/** What streams in parts comes again as a whole. */
const isPartial = (event: unknown): boolean => at(event, 'partial') === true

function runOf(events: readonly unknown[], where: string, id?: string): LoggedRun {
  const whole = events.filter((event) => !isPartial(event))
  const turns = whole.flatMap(turnsOf)
  const { items, ...run } = itemsOfChat(turns)
  const time = timeOf(at(whole[0], 'timestamp'))
  return {
    where,
    ...(id === undefined ? {} : { id }),
    ...run,
    items,
    ...(time === undefined ? {} : { meta: { began: time } }),
    source: whole,
  }
}

function turnsOf(event: unknown): ChatTurn[] {
  const author = asText(at(event, 'author'))
  return readMessage(at(event, 'content'), author === 'user' ? 'user' : 'assistant').map((turn) => ({
    ...turn,
    ...(turn.role === 'assistant' ? { name: author } : {}),
    results: turn.results.map(resultOf),
  }))
}

/** Functions that return no object have their value wrapped in one. */
function resultOf(result: ChatTurn['results'][number]): ChatTurn['results'][number] {
  let value: unknown
  try {
    value = JSON.parse(result.output)
  } catch {
    return result
  }
  const [error, inner] = [textOf(at(value, 'error')), unwrapped(value)]
  if (error !== undefined && Object.keys(value as object).length === 1)
    return { ...result, output: error, ok: false }
  return inner === value ? result : { ...result, output: inner === null ? '' : asText(inner) }
}
