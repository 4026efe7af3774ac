import { parseJson } from '../schema/index.ts'
import type { ModelApi } from './apis/contract.ts'
import { readStream } from './apis/server-sent-events.ts'
import { type LoggedCall, runsOfCalls } from './call-runs.ts'
import type { LogFormat, LoggedRun, LogRecord } from './contract.ts'
import { at, isObject, listOf, textOf, timeOf } from './json.ts'
import { pythonValue } from './python-literal.ts'

/** How logs of one model API are told apart from others, and read. */
export interface ApiLogs {
  api: ModelApi
  /** The body of a response. */
  isResponse: (body: unknown) => boolean
  /** An event of a stream; the first one of each stream has its own test, unless events name their response. */
  isEvent: (event: unknown) => boolean
  startsStream?: (event: unknown) => boolean
  /** A record that is no call, such as a list of messages. */
  readWhole: (value: unknown) => Omit<LoggedRun, 'where' | 'source'>
}

/** Whether a record is a call: a response, alone or with its request, or an event of a stream. */
export function isCall(value: unknown, logs: ApiLogs): boolean {
  const { request, response } = bodiesOf(value)
  if (logs.isResponse(response) || logs.isEvent(value)) return true
  const { events } = streamIn(response)
  if (events.length > 0) return events.some(logs.isEvent)
  // A request that failed.
  return (
    request !== undefined && isObject(at(response, 'error')) && logs.api.request(request).turns.length > 0
  )
}

/** Reads calls, whose runs are known only at the end, and other records one by one. */
export function readCalls(logs: ApiLogs): LogFormat['read'] {
  return async function* (records) {
    const calls: LoggedCall[] = []
    const streams = new Streams(logs)
    for await (const record of records) {
      const { value, where } = record
      try {
        if (logs.isEvent(value)) streams.add(record)
        else if (isCall(value, logs)) calls.push(callOf(record, logs))
        else yield { ...logs.readWhole(value), where, source: [value] }
      } catch (error) {
        yield { where, problem: (error as Error).message }
      }
    }
    yield* runsOfCalls([...calls, ...streams.calls()])
  }
}

/** Events of streams that were logged one by one. */
class Streams {
  readonly #logs: ApiLogs
  readonly #streams = new Map<string, LogRecord[]>()
  #count = 0

  constructor(logs: ApiLogs) {
    this.#logs = logs
  }

  add(record: LogRecord): void {
    const { startsStream } = this.#logs
    if (startsStream?.(record.value) === true) this.#count++
    const id = startsStream === undefined ? textOf(at(record.value, 'id')) : undefined
    const key = id ?? String(this.#count)
    const stream = this.#streams.get(key) ?? []
    this.#streams.set(key, stream)
    stream.push(record)
  }

  calls(): LoggedCall[] {
    return [...this.#streams.values()].map((records) => {
      const response = records.map(({ value }) => value)
      return callOf({ where: records[0]!.where, value: { request: {}, response } }, this.#logs)
    })
  }
}

function callOf({ where, value }: LogRecord, { api }: ApiLogs): LoggedCall {
  const { request, response } = bodiesOf(value)
  const { events, unread } = streamIn(response)
  const body = events.length > 0 ? api.join(events) : response
  const { system, turns, tools, previous } = api.request(request ?? {})
  const answer = api.answer(body)
  const time = timeOf(at(body, 'created') ?? at(body, 'created_at') ?? at(value, 'timestamp'))
  const instructions =
    system === '' ? [] : [{ role: 'system' as const, text: system, calls: [], results: [] }]
  const { id, model, error } = answer
  const continues = previous ?? textOf(at(body, 'previous_response_id'))
  return {
    where,
    // Pieces of a stream are words only when joined.
    value: events.length > 0 ? { request, body, unread } : value,
    messages: [...instructions, ...turns],
    choices: [answer.turns, ...(answer.others ?? [])].filter((choice) => choice.length > 0),
    tools,
    ...headOfCall(value),
    ...(time === undefined ? {} : { at: time }),
    ...(error === undefined ? {} : { error }),
    ...(model === undefined ? {} : { model }),
    ...(id === undefined ? {} : { id }),
    ...(continues === undefined ? {} : { continues }),
  }
}

const runKeys = ['run_id', 'trace_id', 'session_id', 'conversation_id', 'thread_id']

/** What proxies and programs keep next to the bodies of a call. */
function headOfCall(value: unknown): Pick<LoggedCall, 'run' | 'agent'> {
  const found = (...keys: string[]): string | undefined =>
    keys
      .flatMap((key) => [textOf(at(value, key)), textOf(at(value, 'metadata', key))])
      .find((name) => name !== undefined && name !== '')
  const [run, agent] = [found(...runKeys), found('agent', 'agent_name')]
  return { ...(run === undefined ? {} : { run }), ...(agent === undefined ? {} : { agent }) }
}

const pairs = [
  ['request', 'response'],
  ['reqPayload', 'respPayload'],
  ['raw_request', 'raw_response'],
  ['request_body', 'response_body'],
] as const

/** The bodies of a call: a pair under one of the usual names, or a response alone. */
function bodiesOf(value: unknown): { request: unknown; response: unknown } {
  for (const [request, response] of pairs) {
    const found = { request: bodyIn(at(value, request)), response: bodyIn(at(value, response)) }
    if (isObject(found.request) && found.response !== undefined) return found
  }
  return { request: undefined, response: value }
}

/** A body as it is, under `body`, or as text. */
function bodyIn(value: unknown): unknown {
  const inner = at(value, 'body') ?? value
  // As Python prints the objects of the client library.
  if (typeof inner === 'string' && /^[A-Z]\w+\(\w+=/.test(inner)) return pythonValue(inner) ?? inner
  if (typeof inner !== 'string' || !/^\s*[[{]/.test(inner)) return inner
  try {
    return parseJson(inner)
  } catch {
    return inner
  }
}

/** A stream: a list of its events, or its text. */
function streamIn(body: unknown): { events: readonly unknown[]; unread: readonly string[] } {
  return typeof body === 'string' ? readStream(body) : { events: listOf(body), unread: [] }
}
