import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { makeMcpServer } from './mcp-server.ts'

/** The server of mcp-server.ts over HTTP, for clients with the correct token. */
export async function serveMcp(
  token: string,
  port = 0,
): Promise<{ url: string; port: number; close: () => Promise<void> }> {
  const handler = createMcpHandler(makeMcpServer)
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.headers.authorization !== `Bearer ${token}`) {
      outgoing.writeHead(401).end()
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const gone = new AbortController()
    outgoing.on('close', () => gone.abort())
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: incoming.headers as Record<string, string>,
      signal: gone.signal,
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    })
    const response = await handler.fetch(request)
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body === null) outgoing.end()
    else Readable.fromWeb(response.body as ReadableStream).pipe(outgoing)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${bound}/mcp`,
    port: bound,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
