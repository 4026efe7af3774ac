import type { OtlpTarget } from '../settings/index.ts'

export type Attributes = Record<string, string | number | readonly string[]>

export interface ExportedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  /** Milliseconds since 1970. */
  begun: number
  ended: number
  /** `error.type` marks a span as failed. */
  attributes: Attributes
}

const BATCH = 200
/** Spans that wait for a slow collector; further ones are dropped. */
const KEPT = 5000
const FLUSH_MS = 2000
const TIMEOUT_MS = 10_000
const FAILED = 2

/** Sends spans to a collector as OTLP over HTTP, in batches. What cannot be sent is dropped: the server's work comes first. */
export class SpanExporter {
  readonly #target: OtlpTarget
  readonly #onProblem: (problem: string) => void
  #spans: ExportedSpan[] = []
  #sending: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #reported = false

  constructor(target: OtlpTarget, onProblem: (problem: string) => void) {
    this.#target = target
    this.#onProblem = onProblem
  }

  add(span: ExportedSpan): void {
    if (this.#spans.length >= KEPT) return
    this.#spans.push(span)
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS)
    this.#timer.unref()
    if (this.#spans.length % BATCH === 0) void this.flush()
  }

  /** Sends what there is. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending = this.#sending.then(async () => {
      while (this.#spans.length > 0) await this.#send(this.#spans.splice(0, BATCH))
    })
    return this.#sending
  }

  async #send(spans: readonly ExportedSpan[]): Promise<void> {
    const { url, headers, service } = this.#target
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(otlpSpans(spans, service)),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await response.arrayBuffer()
      if (!response.ok) this.#report(`the collector at ${url} responded with status ${response.status}`)
    } catch {
      this.#report(`no collector responds at ${url}`)
    }
  }

  /** Once is enough: a collector may be away for days. */
  #report(problem: string): void {
    if (!this.#reported) this.#onProblem(`${problem}; spans are dropped until it does`)
    this.#reported = true
  }
}

function otlpSpans(spans: readonly ExportedSpan[], service: string): unknown {
  const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n)
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service }) },
        scopeSpans: [
          {
            scope: { name: 'chain-of-agents' },
            spans: spans.map(({ begun, ended, attributes, ...span }) => ({
              ...span,
              startTimeUnixNano: nanoseconds(begun),
              endTimeUnixNano: nanoseconds(ended),
              attributes: attributesOf(attributes),
              status: attributes['error.type'] === undefined ? {} : { code: FAILED },
            })),
          },
        ],
      },
    ],
  }
}

function attributesOf(attributes: Attributes): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: attributeValue(value) }))
}

function attributeValue(value: Attributes[string]): unknown {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value !== 'number') return { arrayValue: { values: value.map((one) => attributeValue(one)) } }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
