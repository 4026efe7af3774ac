import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Exchange } from '../../../src/engine/index.ts'

export interface RecordingProxy {
  url: string
  close: () => Promise<void>
}

/** Appends exchanges to the file in COA_TEST_RECORD, if there is one, without what no client reads. */
export function recorder(): (exchange: Exchange) => void {
  const file = process.env['COA_TEST_RECORD']
  return (exchange) => {
    if (file === undefined) return
    const line = JSON.stringify(exchange, (key, value) => (key === 'elementwise_loss' ? undefined : value))
    appendFileSync(file, `${line}\n`)
  }
}

/** Forwards requests to a server and reports each exchange; files are reported in base64. */
export async function recordingProxy(
  target: string,
  onExchange: (exchange: Exchange) => void,
): Promise<RecordingProxy> {
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const method = incoming.method!
    // Redirects are followed here, because they name the server.
    const answer = await fetch(`${target}${incoming.url}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(text === '' ? {} : { body: text }),
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const type = answer.headers.get('content-type') ?? ''
    const path = incoming.url!.replace('/api/v1', '')
    const isJson = type.includes('json') && bytes.length > 0
    const known = isJson ? JSON.parse(bytes.toString()) : { base64: bytes.toString('base64') }
    // Their number depends on the speed of the machine; so does how often a pending request is asked for.
    if (path !== '/session_heartbeat' && answer.status !== 408)
      onExchange({
        method,
        path,
        body: text === '' ? undefined : JSON.parse(text),
        status: answer.status,
        answer: known,
      })
    response.writeHead(answer.status, { 'content-type': type })
    response.end(bytes)
  })
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
