import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface RecordedRequest {
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

/** The server's behavior for one chat request. Everything is optional. */
export interface ScriptedReply {
  text?: string
  /** Function calls requested in addition to the text. */
  toolCalls?: { name: string; arguments: unknown }[]
  finish?: string
  usage?: { prompt_tokens: number; completion_tokens: number }
  /** Any status other than 200 is an error response. */
  status?: number
  error?: string
  headers?: Record<string, string>
  delayMs?: number
  /** Closes the connection instead of answering. */
  hangUp?: boolean
  /** Closes a stream after this many pieces. */
  breakAfter?: number
}

export type Responder = (
  request: RecordedRequest,
  index: number,
) => ScriptedReply | string | Promise<ScriptedReply | string>

export interface OpenAiServer {
  /** As passed to openModel, ending in /v1. */
  baseUrl: string
  requests: RecordedRequest[]
  /** The maximum number of concurrent requests so far. */
  mostAtOnce: () => number
  close: () => Promise<void>
}

/**
 * A server with the chat and embeddings endpoints of the OpenAI protocol. Replies come from a list (the last one repeats) or a
 * function; embeddings are computed from the words of a text, so that texts with common words are close to each other.
 *
 * @example
 * import { openModel } from 'chain-of-agents'
 * import { startOpenAiServer } from 'chain-of-agents/testing'
 *
 * const server = await startOpenAiServer(['Lima', { status: 503 }, 'Peru'])
 * const model = openModel({ baseUrl: server.baseUrl, model: 'scripted' })
 * console.log((await model.complete({ prompt: 'Capital of Peru?' })).text) // Lima
 * await server.close()
 */
export async function startOpenAiServer(
  script: Responder | readonly (ScriptedReply | string)[],
): Promise<OpenAiServer> {
  const requests: RecordedRequest[] = []
  const running = { now: 0, most: 0 }
  const replyTo = async (request: RecordedRequest): Promise<ScriptedReply> => {
    const index = requests.indexOf(request)
    const reply =
      typeof script === 'function'
        ? await script(request, index)
        : (script[Math.min(index, script.length - 1)] ?? '')
    return typeof reply === 'string' ? { text: reply } : reply
  }
  const server = createServer(async (incoming, response) => {
    running.most = Math.max(running.most, ++running.now)
    response.on('close', () => running.now--)
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>
    const request = { path: incoming.url ?? '', headers: incoming.headers, body }
    requests.push(request)
    const reply = await replyTo(request)
    if (reply.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.delayMs))
    if (reply.hangUp === true) incoming.socket.destroy()
    else answer(request, reply, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    mostAtOnce: () => running.most,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function answer(request: RecordedRequest, reply: ScriptedReply, response: ServerResponse): void {
  if (
    reply.status === undefined &&
    request.path === '/v1/chat/completions' &&
    request.body['stream'] === true
  )
    stream(request, reply, response)
  else {
    const { status, body } = wholeAnswer(request, reply)
    response.writeHead(status, { 'content-type': 'application/json', ...reply.headers })
    response.end(JSON.stringify(body))
  }
}

function wholeAnswer(request: RecordedRequest, reply: ScriptedReply): { status: number; body: object } {
  const { status = 200, error = 'scripted failure' } = reply
  if (status !== 200) return { status, body: { error: { message: error, type: 'scripted' } } }
  if (request.path === '/v1/embeddings') return { status, body: embeddings(request.body) }
  if (request.path !== '/v1/chat/completions')
    return { status: 404, body: { error: { message: 'no such path' } } }
  const calls = toolCalls(reply)
  const message = {
    role: 'assistant',
    content: reply.text ?? '',
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  const choices = [{ index: 0, message, finish_reason: finishOf(reply) }]
  return { status, body: { ...head(request, 'chat.completion'), choices, usage: usageOf(reply) } }
}

function stream(request: RecordedRequest, reply: ScriptedReply, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (choice: unknown, rest: object = {}): void => {
    const chunk = {
      ...head(request, 'chat.completion.chunk'),
      choices: choice === null ? [] : [choice],
      ...rest,
    }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  const pieces = (reply.text ?? '').match(/[\s\S]{1,7}/g) ?? []
  for (const [index, piece] of pieces.entries()) {
    if (index === reply.breakAfter) {
      // Give the written data time to be sent before the connection is closed.
      setTimeout(() => response.destroy(), 20)
      return
    }
    event({ index: 0, delta: { role: 'assistant', content: piece }, finish_reason: null })
  }
  for (const [index, call] of toolCalls(reply).entries()) {
    event({ index: 0, delta: { tool_calls: [{ index, ...call }] }, finish_reason: null })
  }
  event({ index: 0, delta: {}, finish_reason: finishOf(reply) })
  event(null, { usage: usageOf(reply) })
  response.end('data: [DONE]\n\n')
}

function toolCalls({ toolCalls: calls = [] }: ScriptedReply): object[] {
  return calls.map(({ name, arguments: input }, index) => ({
    id: `call-${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
}

function finishOf({ finish, toolCalls: calls = [] }: ScriptedReply): string {
  return finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
}

function head(request: RecordedRequest, object: string): object {
  return { id: 'scripted', object, created: 0, model: request.body['model'] }
}

function usageOf({ usage = { prompt_tokens: 10, completion_tokens: 5 } }: ScriptedReply): object {
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens }
}

const DIMENSIONS = 64

function embeddings(body: Record<string, unknown>): object {
  const texts = [body['input']].flat() as string[]
  return {
    object: 'list',
    model: body['model'],
    data: texts.map((text, index) => ({ object: 'embedding', index, embedding: wordVector(text) })),
    usage: { prompt_tokens: texts.length, total_tokens: texts.length },
  }
}

/** Each word increments one hashed dimension. */
function wordVector(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0)
  vector[0] = 0.01
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const place = createHash('sha256').update(word).digest().readUInt16BE(0) % DIMENSIONS
    vector[place] = (vector[place] ?? 0) + 1
  }
  return vector
}
