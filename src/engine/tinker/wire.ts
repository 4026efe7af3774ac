import { backOff, pause, retryAfterMs } from '../../base/retry/index.ts'
import { EngineError } from '../checkpoint/index.ts'
import { COLUMNS } from './columns.ts'
import { KeptConnections, type Reply } from './kept-connections.ts'
import { isTransient, serverError, unreachable } from './wire-errors.ts'

export interface WireOptions {
  /** Server URL; /api/v1 is added if it is missing. */
  url: string
  key?: string | undefined
  /** Timeout per attempt. Default 120 s. */
  timeoutMs?: number | undefined
  /** How long to retry when the server is unreachable or failing. Default 30 s. */
  patienceMs?: number | undefined
  /** Called with every response, for logs and recordings. */
  onAnswer?: ((exchange: Exchange) => void) | undefined
}

export interface Exchange {
  method: string
  path: string
  body: unknown
  status: number
  answer: unknown
}

export interface WireRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  body?: unknown
  /** A binary body instead of JSON. */
  bytes?: { type: string; data: Blob | Uint8Array }
  accept?: string
  /** False if running it twice would do harm: then it is resent only if it certainly did not arrive. Default true. */
  repeatable?: boolean
  signal?: AbortSignal | undefined
  timeoutMs?: number
  /** For long polls: "not yet" (408) is returned to the caller instead of being retried. */
  mayBeEarly?: boolean
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000
/** Cap on Retry-After. */
const MAX_RETRY_AFTER_MS = 120_000
/** A busy server is retried longer than a broken one. */
const BUSY_RETRY_MS = 600_000

/** HTTP client of the protocol: transient errors are retried with exponential backoff, others are reported. */
export class Wire {
  readonly base: string
  readonly #options: WireOptions
  readonly #kept: KeptConnections

  constructor(options: WireOptions) {
    this.base = baseOf(options.url)
    this.#kept = new KeptConnections(this.base)
    this.#options = options
  }

  async json<T>(path: string, request: WireRequest = {}): Promise<T> {
    const response = await this.open(path, request)
    const answer = await this.#body(path, response)
    const { method = request.body === undefined ? 'GET' : 'POST', body } = request
    this.#options.onAnswer?.({ method, path, body, status: response.status, answer })
    return answer as T
  }

  /** The response with its body still unread, once the server has accepted the request. */
  open(path: string, request: WireRequest = {}): Promise<Response> {
    return this.#persist(request, () => this.#once(path, request))
  }

  /** The whole response to a binary request that may be repeated and may take any time. */
  exchange(path: string, type: string, data: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    const headers = { ...this.#headers('*/*'), 'content-type': type }
    return this.#persist({ signal }, async () => {
      let reply: Reply
      try {
        reply = await this.#kept.post(path, headers, data, signal)
      } catch (cause) {
        signal?.throwIfAborted()
        return { ...unreachable(this.base, cause, false), busy: false, afterMs: 0 }
      }
      const { status, body } = reply
      if (status === 200) return body
      const answer = status === 204 ? undefined : parsed(body)
      return this.#failure(path, {
        status,
        answer,
        header: (name) => reply.headers[name]?.toString() ?? null,
      })
    })
  }

  /** Closes idle connections. */
  close(): void {
    this.#kept.close()
  }

  async #persist<T>(
    { signal, repeatable = true }: WireRequest,
    once: () => Promise<T | Failure>,
  ): Promise<T> {
    const began = performance.now()
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      const outcome = await once()
      if (!(outcome instanceof Object && 'failure' in outcome)) return outcome
      const { failure, arrived, busy, afterMs } = outcome
      if (arrived && !repeatable) throw failure
      const { patienceMs = 30_000 } = this.#options
      const left = (busy ? Math.max(BUSY_RETRY_MS, patienceMs) : patienceMs) - (performance.now() - began)
      const pauseMs = Math.max(afterMs, backOff(attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS))
      if (pauseMs > left) throw failure
      await pause(pauseMs, signal)
    }
  }

  async #once(path: string, request: WireRequest): Promise<Response | Failure> {
    const { body, bytes, accept, signal } = request
    const method = request.method ?? (body === undefined && bytes === undefined ? 'GET' : 'POST')
    const limit = AbortSignal.timeout(request.timeoutMs ?? this.#options.timeoutMs ?? 120_000)
    const headers = this.#headers(accept ?? 'application/json')
    if (bytes !== undefined) headers['content-type'] = bytes.type
    else if (body !== undefined) headers['content-type'] = 'application/json'
    let response: Response
    try {
      response = await fetch(`${this.base}${path}`, {
        method,
        headers,
        signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
        ...(bytes === undefined ? {} : { body: bytes.data as Blob }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    } catch (cause) {
      signal?.throwIfAborted()
      return { ...unreachable(this.base, cause, limit.aborted), busy: false, afterMs: 0 }
    }
    if (response.ok) return response
    const answer = await this.#body(path, response).catch(() => undefined)
    this.#options.onAnswer?.({ method, path, body, status: response.status, answer })
    const { status } = response
    const header = (name: string): string | null => response.headers.get(name)
    return this.#failure(path, { status, answer, header, mayBeEarly: request.mayBeEarly })
  }

  #headers(accept: string): Record<string, string> {
    const { key } = this.#options
    return key === undefined ? { accept } : { accept, 'x-api-key': key }
  }

  /** Throws what no retry can resolve. */
  #failure(path: string, { status, answer, header, mayBeEarly = false }: ErrorReply): Failure {
    const failure = serverError(this.base, path, status, answer)
    if (!isTransient(status) || (status === 408 && mayBeEarly)) throw failure
    return {
      failure,
      arrived: status >= 500,
      busy: status === 429 || status === 425,
      afterMs: Math.min(retryAfterMs(header) ?? 0, MAX_RETRY_AFTER_MS),
    }
  }

  async #body(path: string, response: Response): Promise<unknown> {
    if (response.status === 204) return undefined
    const type = response.headers.get('content-type') ?? ''
    try {
      if (type.includes('protobuf') || type.includes(COLUMNS))
        return new Uint8Array(await response.arrayBuffer())
      return JSON.parse(await response.text())
    } catch (cause) {
      throw new EngineError(
        `The response of ${this.base}${path} cannot be parsed: ${(cause as Error).message}.`,
        {
          fix: 'Check that the URL is that of a Tinker server.',
          cause,
        },
      )
    }
  }
}

interface ErrorReply {
  status: number
  answer: unknown
  header: (name: string) => string | null
  mayBeEarly?: boolean | undefined
}

interface Failure {
  failure: EngineError
  /** The server may have started processing it. */
  arrived: boolean
  busy: boolean
  afterMs: number
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString())
  } catch {
    return undefined
  }
}

function baseOf(url: string): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch (cause) {
    throw new EngineError(`"${url}" is not a URL.`, { fix: 'Use the form http://localhost:8000.', cause })
  }
  const path = parsed.pathname.replace(/\/+$/, '')
  return `${parsed.origin}${path.endsWith('/api/v1') ? path : `${path}/api/v1`}`
}
