import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Exchange } from '../../../src/engine/index.ts'

export interface ReplayServer {
  url: string
  /** Requests that were not as recorded. */
  strangers: string[]
  /** How many of the recorded answers were given. */
  given: () => number
  close: () => Promise<void>
}

/** Answers as a real server once did: each recorded exchange once, in its order among requests that are the same. */
export async function replay(exchanges: readonly Exchange[]): Promise<ReplayServer> {
  const left = exchanges.map((exchange) => ({ ...exchange, given: false }))
  const strangers: string[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const path = incoming.url!.replace('/api/v1', '')
    const say = (status: number, answer: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
    }
    // How many there are depends on the speed of this machine.
    if (path === '/session_heartbeat') return say(200, { type: 'session_heartbeat' })
    if (path.endsWith('/archive')) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      return response.end('the adapter')
    }
    const body = text === '' ? undefined : JSON.parse(text)
    const found = left.find(
      (each) =>
        !each.given &&
        each.method === incoming.method &&
        each.path === path &&
        isDeepStrictEqual(each.body, body),
    )
    if (found === undefined) {
      strangers.push(`${incoming.method} ${path} ${text.slice(0, 300)}`)
      return say(400, { detail: 'this was not recorded' })
    }
    found.given = true
    say(found.status, found.answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    strangers,
    given: () => left.filter(({ given }) => given).length,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
