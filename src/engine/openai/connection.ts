import { backOff, pause, retryAfterMs } from '../../base/retry/index.ts'
import { EngineError } from '../checkpoint/index.ts'
import { jsonLines } from './json-lines.ts'

const LONGEST_PAUSE_MS = 60_000

export interface ConnectionOptions {
  /** With or without a trailing /v1. */
  url: string
  key?: string
  headers?: Record<string, string>
  /** Idle timeout of a request in seconds. Default 600. */
  timeoutSeconds?: number
  /** Retries when the server is busy or unreachable. Default 4. */
  retries?: number
  /** Delay before the first retry in milliseconds; doubled each time. Default 500. */
  firstWait?: number
}

/** An error response of a server. */
export class ServerError extends EngineError {
  readonly status: number

  constructor(status: number, message: string) {
    super(message, {
      fix:
        status === 401 || status === 403
          ? 'Pass the API key that the server requires.'
          : "See the error and the server's log.",
      details: { status },
    })
    this.status = status
  }
}

/** Requests to one server, with retries and an idle timeout. */
export class Connection {
  readonly base: string
  readonly #options: ConnectionOptions

  constructor(options: ConnectionOptions) {
    this.base = baseOf(options.url)
    this.#options = options
  }

  async json(path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    const { response, finish } = await this.#request(path, body, signal)
    try {
      return await response.json()
    } catch (cause) {
      signal?.throwIfAborted()
      throw new EngineError(`${this.base}${path} did not respond with JSON: ${reasonOf(cause)}`, {
        fix: 'Pass the URL of a model server.',
        cause,
      })
    } finally {
      finish()
    }
  }

  /** The objects of a streamed response. Ending the loop early cancels the request. */
  async *stream(path: string, body: unknown, signal?: AbortSignal): AsyncGenerator<unknown> {
    const { response, finish, alive } = await this.#request(path, body, signal)
    let count = 0
    try {
      for await (const value of jsonLines(response.body!)) {
        alive()
        count++
        yield value
      }
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof EngineError) throw cause
      throw new EngineError(
        `the response of ${this.base} broke off after ${count} parts: ${reasonOf(cause)}`,
        {
          fix: "Try again; if it happens often, check the server's log.",
          cause,
        },
      )
    } finally {
      finish()
    }
  }

  async #request(path: string, body: unknown, signal: AbortSignal | undefined): Promise<ActiveRequest> {
    const { retries = 4, firstWait = 500 } = this.#options
    for (let attempt = 0; ; attempt++) {
      const last = attempt === retries
      let retryAfter = 0
      try {
        const running = await this.#once(path, body, signal)
        if (running.response.ok) return running
        const { status } = running.response
        const message = await errorText(running.response)
        running.finish()
        const error = new ServerError(status, `${this.base}${path} returned ${status}: ${message}`)
        if (last || !(status === 408 || status === 429 || status >= 500)) throw error
        retryAfter = retryAfterMs((name) => running.response.headers.get(name)) ?? 0
      } catch (cause) {
        signal?.throwIfAborted()
        if (cause instanceof EngineError) throw cause
        if (last) {
          throw new EngineError(`${this.base} cannot be reached: ${reasonOf(cause)}`, {
            fix: 'Check the URL, and that the server is running.',
            cause,
          })
        }
      }
      const own = backOff(attempt, firstWait, LONGEST_PAUSE_MS)
      await pause(Math.max(own, Math.min(retryAfter, LONGEST_PAUSE_MS)), signal)
    }
  }

  async #once(path: string, body: unknown, signal: AbortSignal | undefined): Promise<ActiveRequest> {
    const { key, headers = {}, timeoutSeconds = 600 } = this.#options
    const silence = new AbortController()
    const silent = (): void => silence.abort(new Error(`no data for ${timeoutSeconds} seconds`))
    let timer = setTimeout(silent, timeoutSeconds * 1000)
    const finish = (): void => {
      clearTimeout(timer)
      silence.abort()
    }
    try {
      const response = await fetch(`${this.base}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([silence.signal, ...(signal === undefined ? [] : [signal])]),
      })
      const alive = (): void => {
        clearTimeout(timer)
        timer = setTimeout(silent, timeoutSeconds * 1000)
      }
      return { response, finish, alive }
    } catch (cause) {
      clearTimeout(timer)
      throw cause
    }
  }
}

interface ActiveRequest {
  response: Response
  finish: () => void
  alive: () => void
}

function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new EngineError(`${JSON.stringify(url)} is not a server URL`, {
      fix: 'Use the form http://127.0.0.1:8000.',
    })
  }
  return url.replace(/\/+$/, '').replace(/\/v1$/, '')
}

async function errorText(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    const { error, message, detail } = JSON.parse(text) as Record<string, unknown>
    const inner =
      typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error
    return String(inner ?? message ?? detail ?? text).slice(0, 500)
  } catch {
    return text.slice(0, 500) || 'no details'
  }
}

/** fetch wraps the actual error. */
function reasonOf(cause: unknown): string {
  const { message, cause: inner } = cause as Error
  return inner instanceof Error ? inner.message : message
}
