import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HoldingProxy {
  url: string
  /** Resolves when the server has run the request and its response is being withheld. */
  held: Promise<void>
  close: () => Promise<void>
}

/** Forwards everything, but withholds the response to the n-th request to a path. */
export async function holdAnswer(target: string, path: string, number: number): Promise<HoldingProxy> {
  let seen = 0
  let notify: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    notify = resolve
  })
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const hasBody = chunks.length > 0
    const answer = await fetch(`${target}${incoming.url}`, {
      method: incoming.method!,
      headers: { 'content-type': incoming.headers['content-type'] ?? 'application/json' },
      ...(hasBody ? { body: Buffer.concat(chunks) } : {}),
    })
    const body = Buffer.from(await answer.arrayBuffer())
    if (incoming.url!.endsWith(path) && ++seen === number) return notify()
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
