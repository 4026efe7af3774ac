import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TinkerRequest {
  method: string
  /** Without /api/v1. */
  path: string
  headers: IncomingHttpHeaders
  /** Parsed JSON, or the bytes of anything else. */
  body: unknown
}

/** The behavior for one request: respond, close the connection, or delay. */
export interface TinkerReply {
  status?: number
  body?: unknown
  bytes?: { type: string; data: Uint8Array }
  headers?: Record<string, string>
  delayMs?: number
  hangUp?: boolean
}

export interface TinkerServer {
  url: string
  requests: TinkerRequest[]
  /** Connections so far. */
  connections: () => number
  close: () => Promise<void>
}

/** A server with scripted responses, for testing clients. */
export async function startTinkerServer(
  reply: (request: TinkerRequest, index: number) => TinkerReply,
): Promise<TinkerServer> {
  const requests: TinkerRequest[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const whole = Buffer.concat(chunks)
    const isJson = incoming.headers['content-type'] === 'application/json'
    const request: TinkerRequest = {
      method: incoming.method ?? '',
      path: (incoming.url ?? '').replace('/api/v1', ''),
      headers: incoming.headers,
      body: isJson ? JSON.parse(whole.toString()) : new Uint8Array(whole),
    }
    requests.push(request)
    const {
      status = 200,
      body = {},
      bytes,
      headers = {},
      delayMs,
      hangUp,
    } = reply(request, requests.length - 1)
    if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs))
    if (hangUp === true) return incoming.socket.destroy()
    response.writeHead(status, { 'content-type': bytes?.type ?? 'application/json', ...headers })
    response.end(bytes?.data ?? JSON.stringify(body))
  })
  let connections = 0
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections: () => connections,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
