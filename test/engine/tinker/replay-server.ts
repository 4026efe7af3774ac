import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Exchange } from '../../../src/engine/index.ts'

export interface ReplayServer {
  url: string
  /** Requests that were not recorded. */
  unexpected: string[]
  /** Number of recorded responses that were sent. */
  given: () => number
  close: () => Promise<void>
}

/** Replays recorded exchanges of a real server, each once, in order among identical requests. */
export async function replay(exchanges: readonly Exchange[]): Promise<ReplayServer> {
  const left = exchanges.map((exchange) => ({ ...exchange, given: false }))
  const unexpected: string[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const path = incoming.url!.replace('/api/v1', '')
    const reply = (status: number, answer: unknown): void => {
      const file = (answer as { base64?: string } | null)?.base64
      response.writeHead(status, {
        'content-type': file === undefined ? 'application/json' : 'application/octet-stream',
      })
      response.end(file === undefined ? JSON.stringify(answer) : Buffer.from(file, 'base64'))
    }
    // Their number depends on the speed of this machine.
    if (path === '/session_heartbeat') return reply(200, { type: 'session_heartbeat' })
    const body = text === '' ? undefined : JSON.parse(text)
    const found = left.find(
      (each) =>
        !each.given &&
        each.method === incoming.method &&
        each.path === path &&
        isDeepStrictEqual(each.body, body),
    )
    if (found === undefined) {
      unexpected.push(`${incoming.method} ${path} ${text.slice(0, 300)}`)
      return reply(400, { detail: 'this was not recorded' })
    }
    found.given = true
    reply(found.status, found.answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    unexpected,
    given: () => left.filter(({ given }) => given).length,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
