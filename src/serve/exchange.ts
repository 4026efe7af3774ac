import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StepListener } from '../agent/index.ts'
import { bodyOf } from '../base/http/index.ts'
import { parseJson } from '../schema/index.ts'
import { ApiError } from './api-error.ts'
import { EventStream } from './event-stream.ts'
import type { Reply } from './service.ts'

/** One request and its response. */
export class Exchange {
  readonly id = `req_${randomUUID().replaceAll('-', '')}`
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly path: string
  readonly query: URLSearchParams
  readonly begun = performance.now()
  readonly #stopping = new AbortController()
  readonly #bodyBytes: number
  /** The name of its route. */
  endpoint = 'unknown'
  replies: readonly Reply[] = []
  error: ApiError | undefined
  stream: EventStream | undefined
  /** Seconds until the first text. */
  firstText: number | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, bodyBytes: number) {
    this.incoming = incoming
    this.outgoing = outgoing
    this.#bodyBytes = bodyBytes
    const [path = '/', query = ''] = (incoming.url ?? '/').split('?', 2)
    this.path = path
    this.query = new URLSearchParams(query)
    outgoing.setHeader('x-request-id', this.id)
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) this.stop(new Error('the client went away'))
    })
  }

  /** Aborted when the client goes away, or when the server stops. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  stop(reason: unknown): void {
    this.#stopping.abort(reason)
  }

  async json(): Promise<unknown> {
    const { headers } = this.incoming
    const type = headers['content-type'] ?? ''
    if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(type))
      throw new ApiError(415, 'the request body must be JSON: send "Content-Type: application/json"')
    const bytes = await bodyOf(this.incoming, this.#bodyBytes)
    if (bytes === undefined)
      throw new ApiError(413, `the request body is longer than ${this.#bodyBytes} bytes`, {
        code: 'request_too_large',
        headers: { connection: 'close' },
      })
    try {
      return parseJson(bytes.toString())
    } catch (error) {
      throw new ApiError(400, `the request body is not JSON: ${(error as Error).message}`, {
        code: 'invalid_json',
      })
    }
  }

  /** From now on, the response is a stream of events. */
  startStream(): EventStream {
    this.stream = new EventStream(this.outgoing)
    return this.stream
  }

  /** Notes when the first text of a chain arrives. */
  readonly watched = (listener: StepListener): StepListener => ({
    opened: (step) => {
      this.firstText ??= this.seconds
      listener.opened(step)
    },
    text: (step, text) => listener.text(step, text),
    closed: (step) => listener.closed(step),
  })

  get seconds(): number {
    return (performance.now() - this.begun) / 1000
  }
}
