import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
  path: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  body: any
  headers: IncomingMessage['headers']
  /** True if the client disconnected before the response was complete. */
  left: boolean
}

/** The response of a path: an object, the parts of a stream, or a custom action. */
type Answer = object | Stream | Act

/** A custom action on the response. */
class Act {
  readonly run: (response: ServerResponse, call: Call) => void
  constructor(run: Act['run']) {
    this.run = run
  }
}

export function act(run: (response: ServerResponse, call: Call) => void): Act {
  return new Act(run)
}

export class Stream {
  readonly parts: readonly (object | string)[]
  readonly lines: boolean
  constructor(parts: readonly (object | string)[], lines = false) {
    this.parts = parts
    this.lines = lines
  }
}

/** A real HTTP server with scripted responses that records its requests. */
export async function scripted(
  answers: Record<string, Answer | ((body: never) => Answer)>,
): Promise<{ url: string; calls: Call[]; requestsTo: (path: string) => Call[]; close: () => void }> {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const call: Call = {
      path: request.url!,
      body: text === '' ? undefined : JSON.parse(text),
      headers: request.headers,
      left: false,
    }
    calls.push(call)
    response.on('close', () => {
      call.left = !response.writableFinished
    })
    const found = answers[request.url!]
    if (found === undefined) return send(response, 404, { error: { message: 'not here' } })
    const answer = typeof found === 'function' ? (found as (body: unknown) => Answer)(call.body) : found
    if (answer instanceof Act) return answer.run(response, call)
    if (!(answer instanceof Stream)) return send(response, 200, answer)
    response.writeHead(200, { 'content-type': answer.lines ? 'application/x-ndjson' : 'text/event-stream' })
    for (const part of answer.parts) {
      const written = typeof part === 'string' ? part : JSON.stringify(part)
      response.write(answer.lines ? `${written}\n` : `data: ${written}\n\n`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    response.end(answer.lines ? '' : 'data: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    requestsTo: (path) => calls.filter((call) => call.path === path),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export function send(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
