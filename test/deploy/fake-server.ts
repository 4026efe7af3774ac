import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ServerKind = 'llama-server' | 'ollama' | 'vllm' | 'sglang'

interface Request {
  path: string
  body: Record<string, unknown>
}

/** Continues every text by a script, in the form of one of the servers. Tokens are characters. */
export class FakeServer {
  readonly requests: Request[] = []
  readonly #server: Server
  url = ''

  constructor(kind: ServerKind, pieces: readonly string[]) {
    const left = [...pieces]
    this.#server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        const body = JSON.parse(text) as Record<string, unknown>
        this.requests.push({ path: request.url!, body })
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(answer(kind, request.url!, body, left)))
      })
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** The text of each request to continue one. */
  get texts(): string[] {
    return this.requests.flatMap(({ path, body }) => {
      if (path === '/tokenize') return []
      const prompt = body['prompt'] ?? body['text']
      return Array.isArray(prompt) ? String.fromCodePoint(...(prompt as number[])) : String(prompt)
    })
  }
}

const codes = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0)!)

function answer(kind: ServerKind, path: string, body: Record<string, unknown>, left: string[]): unknown {
  if (path === '/tokenize') return { tokens: codes(String(body['content'])) }
  const text = left.shift() ?? ''
  const stops = (body['stop'] ??
    (body['options'] as { stop?: string[] })?.stop ??
    (body['sampling_params'] as { stop?: string[] })?.stop) as string[]
  const stop = stops.find((each) => text.endsWith(each))
  const kept = stop === undefined ? text : text.slice(0, -stop.length)
  switch (kind) {
    case 'llama-server':
      return {
        content: kept,
        tokens: codes(text),
        stop_type: stop === undefined ? 'eos' : 'word',
        stopping_word: stop ?? '',
      }
    case 'ollama':
      return { response: kept, done_reason: 'stop', eval_count: text.length }
    case 'vllm':
      return { choices: [{ text, stop_reason: stop ?? null }], usage: { completion_tokens: text.length } }
    case 'sglang':
      return {
        text,
        meta_info: {
          completion_tokens: text.length,
          finish_reason: { type: 'stop', ...(stop === undefined ? { matched: 0 } : { matched: stop }) },
        },
      }
  }
}
