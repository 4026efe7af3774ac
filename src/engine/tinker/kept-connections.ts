import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, Agent as SecureAgent } from 'node:https'

export interface Reply {
  status: number
  headers: IncomingMessage['headers']
  body: Uint8Array<ArrayBuffer>
}

const OPTIONS = {
  keepAlive: true,
  /** More requests than this wait for a free connection. */
  maxSockets: 2048,
  maxFreeSockets: 2048,
  /** Shorter than the time after which the trainer closes an idle connection. */
  timeout: 60_000,
}

/**
 * POST requests over connections that stay open. For hundreds of small concurrent requests this takes a fraction of the CPU
 * time of `fetch`, which builds streams, headers and timers for each.
 */
export class KeptConnections {
  readonly #base: URL
  readonly #agent: Agent
  readonly #request: typeof httpRequest

  constructor(base: string) {
    this.#base = new URL(base)
    const isSecure = this.#base.protocol === 'https:'
    this.#agent = isSecure ? new SecureAgent(OPTIONS) : new Agent(OPTIONS)
    this.#request = isSecure ? httpsRequest : httpRequest
  }

  post(
    path: string,
    headers: Record<string, string>,
    data: Uint8Array,
    signal?: AbortSignal,
  ): Promise<Reply> {
    const { hostname, port, pathname } = this.#base
    return new Promise((resolve, reject) => {
      const request = this.#request({
        // Brackets around an IPv6 address belong to the URL only.
        host: hostname.replace(/^\[|\]$/g, ''),
        port,
        path: `${pathname}${path}`,
        method: 'POST',
        agent: this.#agent,
        headers: { ...headers, 'content-length': data.length },
      })
      const abort = (): void => void request.destroy(new Error('aborted'))
      const fail = (cause: Error): void => {
        signal?.removeEventListener('abort', abort)
        reject(cause)
      }
      request.on('error', fail)
      request.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', fail)
        response.on('end', () => {
          signal?.removeEventListener('abort', abort)
          resolve({ status: response.statusCode!, headers: response.headers, body: joined(chunks) })
        })
      })
      signal?.addEventListener('abort', abort, { once: true })
      request.end(data)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** In memory of its own: small buffers share theirs, which a view into them would keep. */
function joined(chunks: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}
