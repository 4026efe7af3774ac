import type { ServerResponse } from 'node:http'

/** Proxies and clients close connections on which nothing happens. */
const PING_MS = 15_000
/** A client that lets so much pile up does not read. */
const MOST_UNREAD = 8 * 2 ** 20

/** Server-sent events to one client. */
export class EventStream {
  readonly #outgoing: ServerResponse
  readonly #pings: NodeJS.Timeout

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing
    outgoing.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    outgoing.flushHeaders()
    this.#pings = setInterval(() => this.#write(': ping\n\n'), PING_MS)
    outgoing.once('close', () => clearInterval(this.#pings))
  }

  send(data: unknown, event?: string): void {
    this.#write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
  }

  end(): void {
    clearInterval(this.#pings)
    if (!this.#outgoing.destroyed) this.#outgoing.end('data: [DONE]\n\n')
  }

  #write(text: string): void {
    if (this.#outgoing.destroyed) return
    this.#outgoing.write(text)
    if (this.#outgoing.writableLength > MOST_UNREAD) this.#outgoing.destroy()
  }
}
