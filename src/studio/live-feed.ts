import type { ServerResponse } from 'node:http'
import type { LiveChange, LiveMessage } from './api.ts'
import { Problem } from './problem.ts'

/** At most ten events a second. */
const EVENT_MS = 100
const PING_MS = 15_000
/** Kept for pages that connect again. */
const MOST_KEPT = 1000
const MOST_CLIENTS = 64
/** A client that lets so much pile up does not read. */
const MOST_UNREAD = 8 * 2 ** 20

interface Client {
  outgoing: ServerResponse
  run: string | undefined
  job: string | undefined
  waiting: LiveMessage[]
  timer: NodeJS.Timeout | undefined
}

/** Server-sent events to all pages that are open: what changes, as it does. */
export class LiveFeed {
  readonly #clients = new Set<Client>()
  readonly #onClients: () => void
  #kept: LiveMessage[] = []
  #seq = 0

  /** Called whenever a page comes or goes. */
  constructor(onClients: () => void) {
    this.#onClients = onClients
  }

  /** The runs that pages show. */
  get runs(): string[] {
    return [...new Set([...this.#clients].flatMap(({ run }) => run ?? []))]
  }

  get isAnyone(): boolean {
    return this.#clients.size > 0
  }

  add(outgoing: ServerResponse, about: { run?: string; job?: string; after?: number }): void {
    if (this.#clients.size >= MOST_CLIENTS)
      throw new Problem(503, 'too many pages are open', { code: 'busy' })
    outgoing.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    outgoing.flushHeaders()
    const client: Client = { outgoing, run: about.run, job: about.job, waiting: [], timer: undefined }
    this.#clients.add(client)
    const pings = setInterval(() => write(client, ': ping\n\n'), PING_MS)
    outgoing.once('close', () => {
      clearInterval(pings)
      clearTimeout(client.timer)
      this.#clients.delete(client)
      this.#onClients()
    })
    client.waiting.push(...this.#missed(client, about.after))
    this.#flush(client)
    this.#onClients()
  }

  publish(changes: readonly LiveChange[]): void {
    if (changes.length === 0) return
    const messages = changes.map((change): LiveMessage => ({ seq: ++this.#seq, ...change }))
    this.#kept = [...this.#kept, ...messages].slice(-MOST_KEPT)
    for (const client of this.#clients) {
      client.waiting.push(...messages.filter((message) => concerns(message, client)))
      if (client.waiting.length > 0 && client.timer === undefined) this.#flush(client)
    }
  }

  close(): void {
    for (const { outgoing } of this.#clients) outgoing.end()
  }

  #missed(client: Client, after: number | undefined): LiveMessage[] {
    const now = { seq: this.#seq }
    if (after === undefined) return [{ ...now, type: 'hello' }]
    const first = this.#kept[0]?.seq ?? this.#seq + 1
    // From another server, or too long ago.
    if (after > this.#seq || after < first - 1) return [{ ...now, type: 'reset' }]
    const missed = this.#kept.filter((message) => message.seq > after && concerns(message, client))
    return [...missed, { ...now, type: 'hello' }]
  }

  #flush(client: Client): void {
    const messages = client.waiting.splice(0)
    const last = messages.at(-1)
    if (last === undefined) {
      client.timer = undefined
      return
    }
    write(client, `id: ${last.seq}\ndata: ${JSON.stringify(messages)}\n\n`)
    client.timer = setTimeout(() => this.#flush(client), EVENT_MS)
  }
}

/** Details of runs and jobs are only for pages that show them. */
function concerns(message: LiveMessage, { run, job }: Client): boolean {
  switch (message.type) {
    case 'records':
    case 'metrics':
    case 'log':
      return message.run === run
    case 'output':
    case 'chain':
      return message.job === job
    default:
      return true
  }
}

function write({ outgoing }: Client, text: string): void {
  if (outgoing.destroyed) return
  outgoing.write(text)
  if (outgoing.writableLength > MOST_UNREAD) outgoing.destroy()
}
