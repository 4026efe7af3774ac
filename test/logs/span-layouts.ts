import type { TeamSpan } from './random-team.ts'
import type { SpanWriter, WrittenSpan } from './span-writers.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
/** Beyond the integers that a number can hold. */
const BASE = 1_731_000_000_000_000_001n

type Written = WrittenSpan & { span: TeamSpan }
/** The records of a file, or of several files that are read together. */
export type Layout = (spans: Written[]) => unknown[]

export const written = (spans: readonly TeamSpan[], write: SpanWriter): Written[] =>
  spans.map((span) => ({ span, ...write(span) }))

/** Records of one span each, so that a trace is spread over all lines. */
const otlpSpan = (
  { span, name, attributes, events = [] }: Written,
  eventTime: (index: number) => bigint,
) => ({
  traceId: TRACE,
  spanId: span.id,
  ...(span.parent === undefined ? {} : { parentSpanId: span.parent }),
  name,
  kind: 3,
  startTimeUnixNano: String(BASE + BigInt(span.start)),
  endTimeUnixNano: String(BASE + BigInt(span.end)),
  attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: typed(value) })),
  events: events.map(({ name: event, body }, index) => ({
    name: event,
    timeUnixNano: String(eventTime(index)),
    attributes: present(body).map(([key, value]) => ({
      key,
      value: typed(typeof value === 'object' && value !== null ? JSON.stringify(value) : value),
    })),
  })),
  status: { code: 1 },
})

/** Attributes cannot be null. */
const present = (fields: Record<string, unknown>): [string, unknown][] =>
  Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)

function typed(value: unknown): unknown {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return { intValue: String(value) }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(typed) } }
  if (value === null || value === undefined) return {}
  return {
    kvlistValue: { values: Object.entries(value).map(([key, inner]) => ({ key, value: typed(inner) })) },
  }
}

const eventTime =
  ({ span }: Written) =>
  (index: number) =>
    BASE + BigInt(span.start) + BigInt(index >> 1)

export const otlpLines: Layout = (spans) =>
  spans.map((one) => ({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'team' } }] },
        scopeSpans: [{ scope: { name: 'library' }, spans: [otlpSpan(one, eventTime(one))] }],
      },
    ],
  }))

/** Messages as log records in lines of their own. */
export const otlpWithLogs: Layout = (spans) => {
  const logs = spans.flatMap((one) =>
    (one.events ?? []).map(({ name, body }, index) => ({
      timeUnixNano: String(eventTime(one)(index)),
      eventName: name,
      body: typed(body),
      traceId: TRACE,
      spanId: one.span.id,
    })),
  )
  const files = logs.map((record) => ({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }))
  return [...files, ...otlpLines(spans.map(({ events: _events, ...rest }) => rest))]
}

/** Tempo: one object, and times as numbers, which lose their last digits. */
export const tempo: Layout = (spans) => [
  {
    batches: [
      {
        instrumentationLibrarySpans: [
          {
            instrumentationLibrary: { name: 'library' },
            spans: spans.map((one) => ({
              ...otlpSpan(one, eventTime(one)),
              startTimeUnixNano: Number(BASE) + one.span.start * 4096,
              endTimeUnixNano: Number(BASE) + one.span.end * 4096,
              kind: 'SPAN_KIND_CLIENT',
              status: { code: 'STATUS_CODE_OK' },
            })),
          },
        ],
      },
    ],
  },
]

/** JSON made from Protocol Buffers: ids in base64. */
export const protobuf: Layout = (spans) => {
  const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
  return [
    spans.map((one) => {
      const { traceId, spanId, parentSpanId, ...rest } = otlpSpan(one, eventTime(one))
      const ids = {
        traceId: base64(traceId),
        spanId: base64(spanId),
        parentSpanId: base64(parentSpanId ?? ''),
      }
      return { resourceSpans: [{ scopeSpans: [{ spans: [{ ...ids, ...rest }] }] }] }
    }),
  ].flat()
}

export const jaeger: Layout = (spans) => [
  {
    data: [
      {
        traceID: TRACE,
        spans: spans.map(({ span, name, attributes, events = [] }) => ({
          traceID: TRACE,
          spanID: span.id,
          operationName: name,
          references:
            span.parent === undefined ? [] : [{ refType: 'CHILD_OF', traceID: TRACE, spanID: span.parent }],
          startTime: 1_731_000_000_000_000 + span.start,
          duration: span.end - span.start,
          tags: Object.entries(attributes).map(([key, value]) => ({
            key,
            type: 'string',
            value: typeof value === 'object' ? JSON.stringify(value) : value,
          })),
          logs: events.map((event, index) => ({
            timestamp: 1_731_000_000_000_000 + span.start + index,
            fields: present({ event: event.name, ...event.body }).map(([key, value]) => ({
              key,
              value: typeof value === 'object' ? JSON.stringify(value) : value,
            })),
          })),
          processID: 'p1',
        })),
        processes: { p1: { serviceName: 'team' } },
      },
    ],
  },
]

const iso = (milliseconds: number): string => new Date(1_731_000_000_000 + milliseconds).toISOString()

/** As exporters print spans, one a line. */
export const consoleLines: Layout = (spans) =>
  spans.map(({ span, name, attributes, events = [] }) => ({
    name,
    context: { trace_id: `0x${TRACE}`, span_id: `0x${span.id}`, trace_state: '[]' },
    parent_id: span.parent === undefined ? null : `0x${span.parent}`,
    // Python writes microseconds.
    start_time: iso(0).replace('.000Z', `.${String(span.start).padStart(6, '0')}Z`),
    end_time: iso(0).replace('.000Z', `.${String(span.end).padStart(6, '0')}Z`),
    status: { status_code: 'UNSET' },
    attributes,
    events: events.map((event) => ({ name: event.name, timestamp: iso(span.start), attributes: event.body })),
  }))

/** Phoenix's API: the kind of a span apart from its attributes. */
const phoenixSpan = ({ span, name, attributes }: Written) => {
  const { 'openinference.span.kind': kind, ...rest } = attributes
  return {
    id: `row-${span.id}`,
    name,
    context: { trace_id: TRACE, span_id: span.id },
    span_kind: kind,
    parent_id: span.parent ?? null,
    start_time: iso(span.start),
    end_time: iso(span.end),
    status_code: 'OK',
    status_message: '',
    attributes: rest,
    events: [],
  }
}

export const phoenixTrace: Layout = (spans) => [
  { traceId: TRACE, rootSpan: phoenixSpan(spans[0]!), spans: spans.map(phoenixSpan), status: 'OK' },
]
export const phoenixPage: Layout = (spans) => [{ data: spans.map(phoenixSpan), next_cursor: null }]
export const phoenixSpans: Layout = (spans) => spans.map(phoenixSpan)

/** Rows of a data frame. */
export const phoenixRows: Layout = (spans) =>
  spans.map((one) => {
    const { context, attributes, ...rest } = phoenixSpan(one)
    const columns = Object.entries(attributes).map(([key, value]) => [`attributes.${key}`, value])
    return {
      ...rest,
      'context.trace_id': context.trace_id,
      'context.span_id': context.span_id,
      'attributes.session.id': null,
      ...Object.fromEntries(columns),
    }
  })

const mlflowTrace = (spans: Written[]) => {
  const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')
  return {
    info: { trace_id: 'tr-1234567890abcdef', state: 'OK', trace_metadata: {}, tags: {} },
    data: {
      spans: spans.map(({ span, name, attributes }) => ({
        trace_id: base64(TRACE),
        span_id: base64(span.id),
        parent_span_id: span.parent === undefined ? '' : base64(span.parent),
        name,
        start_time_unix_nano: Number(BASE) + span.start * 4096,
        end_time_unix_nano: Number(BASE) + span.end * 4096,
        status: { code: 'STATUS_CODE_OK', message: '' },
        attributes,
        events: [],
      })),
    },
  }
}

export const mlflowFile: Layout = (spans) => [mlflowTrace(spans)]
/** Rows of `mlflow.search_traces()` have the trace as JSON. */
export const mlflowRows: Layout = (spans) => [{ trace_id: 'tr-1', trace: JSON.stringify(mlflowTrace(spans)) }]

/** The version before: ids under `context`, and other names of times. */
export const mlflowOld: Layout = (spans) => [
  {
    info: { request_id: 'r-1', status: 'OK' },
    data: {
      spans: spans.map(({ span, name, attributes }) => ({
        name,
        context: { span_id: `0x${span.id}`, trace_id: `0x${TRACE}` },
        parent_id: span.parent === undefined ? null : `0x${span.parent}`,
        start_time: Number(BASE) + span.start * 4096,
        end_time: Number(BASE) + span.end * 4096,
        status_code: 'OK',
        attributes,
      })),
    },
  },
]

/** Written by hand or by other tools: ids are numbers. */
export const mlflowNumbered: Layout = (spans) => [
  {
    info: { trace_id: 7 },
    data: {
      spans: spans.map(({ span, name, attributes }) => ({
        name,
        span_id: Number.parseInt(span.id, 16),
        parent_id: span.parent === undefined ? 0 : Number.parseInt(span.parent, 16),
        start_time: Number(BASE) + span.start * 4096,
        end_time: Number(BASE) + span.end * 4096,
        attributes,
      })),
    },
  },
]

/** Every model call once more, by another library: in the span of the first one, or beside it. */
export const twice =
  (layout: Layout, write: SpanWriter, { nested }: { nested: boolean }): Layout =>
  (spans) => {
    const again = spans.flatMap(({ span }) => {
      if (span.kind !== 'model') return []
      const other = { ...span, id: span.id.replace(/^0/, 'f'), parent: nested ? span.id : span.parent }
      return [{ span: other, ...write(other) }]
    })
    return layout([...again, ...spans])
  }

/** Spans of models and tools whose parents are missing, as spans of a network library often are. */
export const orphaned =
  (layout: Layout): Layout =>
  (spans) =>
    layout(
      spans.map((one, index) =>
        one.span.kind === 'agent' || index % 3 === 0
          ? one
          : { ...one, span: { ...one.span, parent: `e${one.span.id.slice(1)}` } },
      ),
    )
