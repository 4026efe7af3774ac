import { backOff, pause, retryAfterMs } from '../../base/retry/index.ts'
import { EngineError } from '../checkpoint/index.ts'
import { jsonLines } from './json-lines.ts'

const LONGEST_PAUSE_MS = 60_000

export interface ConnectionOptions {
  /** With or without the /v1 at its end. */
  url: string
  key?: string
  headers?: Record<string, string>
  /** Seconds without a sign of life after which a request has failed. Default 600. */
  timeoutSeconds?: number
  /** How often a request is tried again when the server is busy or cannot be reached. Default 4. */
  retries?: number
  /** Milliseconds before the first of these; each wait is twice the last. Default 500. */
  firstWait?: number
}

/** What a server answered instead of what was asked for. */
export class ServerRefusal extends EngineError {
  readonly status: number

  constructor(status: number, message: string) {
    super(message, {
      fix:
        status === 401 || status === 403
          ? 'Give the key that the server asks for.'
          : 'See what the server says, and its log.',
      details: { status },
    })
    this.status = status
  }
}

/** Requests to one server: tried again while it is busy, given up when it falls silent. */
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
      throw new EngineError(`${this.base}${path} did not answer with JSON: ${reasonOf(cause)}`, {
        fix: 'Give the address of a model server.',
        cause,
      })
    } finally {
      finish()
    }
  }

  /** The objects of a streamed answer, as they come. Ending the loop early ends the request too. */
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
      throw new EngineError(`the answer of ${this.base} broke off after ${count} parts: ${reasonOf(cause)}`, {
        fix: 'Ask again; if it happens often, look into the log of the server.',
        cause,
      })
    } finally {
      finish()
    }
  }

  async #request(path: string, body: unknown, signal: AbortSignal | undefined): Promise<Running> {
    const { retries = 4, firstWait = 500 } = this.#options
    for (let attempt = 0; ; attempt++) {
      const last = attempt === retries
      let asked = 0
      try {
        const running = await this.#once(path, body, signal)
        if (running.response.ok) return running
        const { status } = running.response
        const message = await refusalText(running.response)
        running.finish()
        const refusal = new ServerRefusal(status, `${this.base}${path} answered ${status}: ${message}`)
        if (last || !(status === 408 || status === 429 || status >= 500)) throw refusal
        asked = retryAfterMs((name) => running.response.headers.get(name)) ?? 0
      } catch (cause) {
        signal?.throwIfAborted()
        if (cause instanceof EngineError) throw cause
        if (last) {
          throw new EngineError(`${this.base} cannot be reached: ${reasonOf(cause)}`, {
            fix: 'Check the address, and that the server is running.',
            cause,
          })
        }
      }
      const own = backOff(attempt, firstWait, LONGEST_PAUSE_MS)
      await pause(Math.max(own, Math.min(asked, LONGEST_PAUSE_MS)), signal)
    }
  }

  async #once(path: string, body: unknown, signal: AbortSignal | undefined): Promise<Running> {
    const { key, headers = {}, timeoutSeconds = 600 } = this.#options
    const silence = new AbortController()
    const silent = (): void => silence.abort(new Error(`nothing came for ${timeoutSeconds} seconds`))
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

interface Running {
  response: Response
  finish: () => void
  alive: () => void
}

function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new EngineError(`${JSON.stringify(url)} is not the address of a server`, {
      fix: 'Write it as in http://127.0.0.1:8000.',
    })
  }
  return url.replace(/\/+$/, '').replace(/\/v1$/, '')
}

async function refusalText(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    const { error, message, detail } = JSON.parse(text) as Record<string, unknown>
    const inner =
      typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error
    return String(inner ?? message ?? detail ?? text).slice(0, 500)
  } catch {
    return text.slice(0, 500) || 'nothing more'
  }
}

/** fetch hides what happened one level down. */
function reasonOf(cause: unknown): string {
  const { message, cause: inner } = cause as Error
  return inner instanceof Error ? inner.message : message
}
