import { backOff, pause, retryAfterMs } from '../../base/retry/index.ts'
import { EngineError } from '../checkpoint/index.ts'
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

  constructor(options: WireOptions) {
    this.base = baseOf(options.url)
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
  async open(path: string, request: WireRequest = {}): Promise<Response> {
    const { signal, repeatable = true } = request
    const began = performance.now()
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      const outcome = await this.#once(path, request)
      if (outcome instanceof Response) return outcome
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
    const headers: Record<string, string> = { accept: accept ?? 'application/json' }
    if (this.#options.key !== undefined) headers['x-api-key'] = this.#options.key
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
    const failure = serverError(this.base, path, response.status, answer)
    if (!isTransient(response.status) || (response.status === 408 && request.mayBeEarly)) throw failure
    return {
      failure,
      arrived: response.status >= 500,
      busy: response.status === 429 || response.status === 425,
      afterMs: Math.min(retryAfterMs((name) => response.headers.get(name)) ?? 0, MAX_RETRY_AFTER_MS),
    }
  }

  async #body(path: string, response: Response): Promise<unknown> {
    if (response.status === 204) return undefined
    const type = response.headers.get('content-type') ?? ''
    try {
      if (type.includes('protobuf')) return new Uint8Array(await response.arrayBuffer())
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

interface Failure {
  failure: EngineError
  /** The server may have started processing it. */
  arrived: boolean
  busy: boolean
  afterMs: number
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
