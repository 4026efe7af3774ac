import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Api } from '../../src/studio/index.ts'
import { type Studio, type StudioParts, startStudio } from '../../src/studio/index.ts'

export type PartialParts = Partial<StudioParts> & Pick<StudioParts, 'runs'>

/** A studio whose jobs are this program instead of coa: it prints its arguments, and waits if they say so. */
const stubborn = fileURLToPath(new URL('./printing-program.ts', import.meta.url))

export function studioOn(parts: PartialParts): Promise<Studio> {
  return startStudio({
    host: '127.0.0.1',
    port: 0,
    page: '/does/not/exist',
    session: { version: '0', readOnly: false, project: 'test', runs: 'runs', stages: ['sft'] },
    settings: () => ({
      schema: {},
      values: {},
      quickstart: {},
      fast: {},
      sections: { teach: [], distill: [], filter: [], sft: [], rl: [], eval: [] },
    }),
    defaults: {},
    jobs: {
      launcher: [process.execPath, stubborn],
      wordsOf: (words) => [...words],
      commandLine: (words) => words.join(' '),
      checkSettings: () => {},
      grammarOf: () => undefined,
    },
    ...parts,
  })
}

export interface Answer<T = unknown> {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  json: T
}

/** A request exactly as given: fetch would set Host, and would normalize paths. */
export async function send(
  { address, token }: Pick<Studio, 'address' | 'token'>,
  path: string,
  options: {
    method?: string
    headers?: Record<string, string | string[]>
    body?: string
    isOpen?: boolean
  } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(address)
  const { method = 'GET', headers = {}, body, isOpen = false } = options
  const outgoing = request({
    hostname,
    port,
    path,
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...(isOpen ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
  })
  outgoing.end(body)
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
  })
  const content = await text(response)
  let json: unknown
  try {
    json = JSON.parse(content)
  } catch {
    json = undefined
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text: content, json }
}

type Reply<E extends keyof Api> = Api[E]['reply']

/** The reply to a request that has to succeed; the endpoint is for its type. */
export async function get<E extends keyof Api>(
  studio: Studio,
  _endpoint: E,
  path: string,
): Promise<Reply<E>> {
  const { status, text: content, json } = await send(studio, path)
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${content}`)
  return json as Reply<E>
}

export function post(studio: Studio, path: string, body: unknown): Promise<Answer> {
  return send(studio, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-coa': 'studio' },
    body: JSON.stringify(body),
  })
}

/** Asks again until the reply is as wanted; the test's own time limit ends it. */
export async function until<T>(ask: () => Promise<T>, isWanted: (reply: T) => boolean): Promise<T> {
  for (;;) {
    const reply = await ask()
    if (isWanted(reply)) return reply
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
