import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** How much of a body that is too long is read and dropped, so that its sender gets to see the answer. */
const DROPPED_BYTES = 32 * 2 ** 20

/** The body of a request; undefined if it is longer than the limit. */
export async function bodyOf(incoming: IncomingMessage): Promise<Buffer>
export async function bodyOf(incoming: IncomingMessage, limit: number): Promise<Buffer | undefined>
export async function bodyOf(
  incoming: IncomingMessage,
  limit = Number.POSITIVE_INFINITY,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of incoming) {
    length += (chunk as Buffer).length
    if (length <= limit) chunks.push(chunk as Buffer)
    else if (length > limit + DROPPED_BYTES) break
    else chunks.length = 0
  }
  return length > limit ? undefined : Buffer.concat(chunks)
}

export function sendJson(
  outgoing: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
