import { asText, at, isObject, type JsonObject, listOf, parsedOr } from '../json.ts'
import { attributesOf, plain } from './attributes.ts'
import { idOf, nanosecondsOf, type Span, type SpanEvent, type SpanLog } from './span.ts'

/** The first of these keys that an object has. Files spell them in camel case or in snake case. */
function field(value: unknown, ...keys: string[]): unknown {
  if (!isObject(value)) return undefined
  for (const key of keys) if (value[key] !== undefined && value[key] !== null) return value[key]
  return undefined
}

/** The spans in a value of a file, and its log records that name a span. */
export function spansOf(value: unknown, where: string): { spans: Span[]; logs: SpanLog[] } {
  const spans: Span[] = []
  const logs: SpanLog[] = []
  const visit = (inner: unknown, scope: string, trace?: string): void => {
    if (Array.isArray(inner)) for (const one of inner) visit(one, scope, trace)
    if (!isObject(inner)) return
    const log = logOf(inner)
    const span = log === undefined ? spanOf(inner, { scope, where, trace }) : undefined
    if (log !== undefined) logs.push(log)
    else if (span !== undefined) spans.push(span)
    else visitLists(inner, scope, trace)
  }
  const visitLists = (inner: JsonObject, scope: string, trace?: string): void => {
    const within = asText(field(field(inner, 'scope', 'instrumentationLibrary'), 'name')) || scope
    const id = idOf(field(inner, 'traceID', 'traceId', 'trace_id') ?? at(inner, 'info', 'trace_id')) ?? trace
    for (const list of lists) visit(inner[list], within, id)
    // Of a Jaeger file, a page of Phoenix, or a trace of MLflow, which may be JSON once more.
    visit(parsedOr(inner['data'] ?? null), within, id)
  }
  visit(value, '')
  return { spans, logs }
}

/** Lists of spans, and lists of what contains them: OTLP, Tempo, Jaeger, Phoenix and MLflow. */
const lists = [
  ...['resourceSpans', 'resource_spans', 'batches', 'scopeSpans', 'scope_spans'],
  ...['instrumentationLibrarySpans', 'resourceLogs', 'resource_logs', 'scopeLogs', 'scope_logs'],
  ...['logRecords', 'log_records', 'spans', 'traces'],
] as const
const listsAndData = [...lists, 'data']

/** Whether a value is a span or contains spans. */
export function hasSpans(value: unknown): boolean {
  if (!isObject(value)) return false
  if (isSpan(value)) return true
  return listsAndData.some((key) => {
    const inner = value[key]
    return Array.isArray(inner)
      ? inner.some(hasSpans) || isList(key, inner)
      : isObject(inner) && hasSpans(inner)
  })
}

/** Telemetry without a single span or record is still telemetry. */
const isList = (key: string, list: readonly unknown[]): boolean =>
  /^(?:resource|scope)/.test(key) && list.every(isObject)

const isSpan = (value: JsonObject): boolean =>
  spanOf(value, { scope: '', where: '', trace: '' }) !== undefined

function spanOf(
  value: JsonObject,
  { scope, where, trace }: { scope: string; where: string; trace: string | undefined },
): Span | undefined {
  const context = field(value, 'context', 'spanContext', 'span_context')
  // MLflow numbers the spans of some traces.
  const given =
    field(value, 'spanId', 'spanID', 'span_id', 'context.span_id') ??
    field(context, 'span_id', 'spanId') ??
    (value['traceId'] === undefined ? undefined : value['id'])
  const id = typeof given === 'number' ? String(given) : given
  const inTrace =
    field(value, 'traceId', 'traceID', 'trace_id', 'context.trace_id', 'request_id') ??
    field(context, 'trace_id', 'traceId') ??
    trace
  const name = field(value, 'name', 'operationName', 'span_name')
  if (typeof id !== 'string' || typeof name !== 'string' || inTrace === undefined) return undefined
  const attributes = spanAttributes(value)
  if (attributes === undefined) return undefined
  const { start, end } = timesOf(value)
  const parent = idOf(parentOf(value))
  const events = eventsOf(value)
  const error = errorOf(value, attributes, events)
  return {
    trace: idOf(inTrace) ?? '',
    id: idOf(id) ?? id,
    ...(parent === undefined ? {} : { parent }),
    name,
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    scope: scope || asText(attributes['otel.scope.name'] ?? at(value, 'instrumentationScope', 'name')),
    attributes,
    events,
    ...(error === undefined ? {} : { error }),
    dropped: Number(field(value, 'droppedAttributesCount', 'dropped_attributes_count') ?? 0),
    where,
  }
}

/** Rows of a data frame have a column for each attribute; Phoenix keeps the kind of a span apart from its attributes. */
function spanAttributes(value: JsonObject): JsonObject | undefined {
  const listed = field(value, 'attributes', 'tags')
  const columns = Object.keys(value).filter((key) => key.startsWith('attributes.'))
  const isOtlp = field(value, 'startTimeUnixNano', 'start_time_unix_nano') !== undefined
  if (listed === undefined && columns.length === 0 && !isOtlp) return undefined
  const attributes = attributesOf(typeof listed === 'string' ? parsedOr(listed) : listed)
  const ofColumns = columns
    .filter((key) => value[key] !== null && value[key] !== undefined)
    .map((key) => [key.slice('attributes.'.length), value[key]])
  const kind = value['span_kind']
  const withKind = typeof kind === 'string' && kind !== '' ? { 'openinference.span.kind': kind } : {}
  return { ...withKind, ...attributes, ...Object.fromEntries(ofColumns) }
}

function parentOf(value: JsonObject): unknown {
  const own = field(value, 'parentSpanId', 'parent_span_id', 'parentId', 'parent_id')
  const reference = listOf(value['references']).find((one) => at(one, 'refType') !== 'FOLLOWS_FROM')
  return own ?? field(value['parentSpanContext'], 'spanId') ?? field(reference, 'spanID')
}

function timesOf(value: JsonObject): { start: bigint | undefined; end: bigint | undefined } {
  const start = nanosecondsOf(
    field(value, 'startTimeUnixNano', 'start_time_unix_nano', 'startTime', 'start_time', 'timestamp'),
  )
  const end = nanosecondsOf(
    field(value, 'endTimeUnixNano', 'end_time_unix_nano', 'endTime', 'end_time', 'end_time_ns'),
  )
  const { duration } = value
  if (end !== undefined || start === undefined || typeof duration !== 'number') return { start, end }
  return { start, end: start + BigInt(Math.round(duration)) * 1000n }
}

function eventsOf(value: JsonObject): SpanEvent[] {
  const listed = field(value, 'events', 'logs')
  return listOf(typeof listed === 'string' ? parsedOr(listed) : listed).map((event) => {
    // Jaeger keeps the name of an event among its fields.
    const attributes = attributesOf(field(event, 'attributes', 'fields'))
    const time = nanosecondsOf(field(event, 'timeUnixNano', 'time_unix_nano', 'timestamp', 'time'))
    const name = asText(field(event, 'name') ?? attributes['event'] ?? attributes['name'])
    return { name, ...(time === undefined ? {} : { time }), attributes }
  })
}

function errorOf(
  value: JsonObject,
  attributes: JsonObject,
  events: readonly SpanEvent[],
): string | undefined {
  const status = field(value, 'status')
  const code = field(status, 'code', 'status_code') ?? field(value, 'status_code', 'statusCode') ?? status
  const isError = /^(?:2|ERROR|STATUS_CODE_ERROR)$/i.test(asText(code)) || attributes['error'] === true
  if (!isError) return undefined
  const thrown = events.find(({ name }) => name === 'exception')?.attributes
  const message =
    field(status, 'message', 'description') ??
    field(value, 'status_message') ??
    attributes['otel.status_description']
  return (
    asText(thrown?.['exception.message']) ||
    asText(message) ||
    asText(attributes['error.type']) ||
    'it failed'
  )
}

function logOf(value: JsonObject): SpanLog | undefined {
  if (value['body'] === undefined && value['eventName'] === undefined) return undefined
  const trace = idOf(field(value, 'traceId', 'trace_id'))
  const span = idOf(field(value, 'spanId', 'span_id'))
  if (trace === undefined || span === undefined) return undefined
  const attributes = attributesOf(value['attributes'])
  const time = nanosecondsOf(
    field(value, 'timeUnixNano', 'time_unix_nano', 'observedTimeUnixNano', 'timestamp'),
  )
  const name = asText(field(value, 'eventName', 'event_name') ?? attributes['event.name'])
  return {
    trace,
    span,
    event: { name, ...(time === undefined ? {} : { time }), attributes, body: plain(value['body']) },
  }
}
