import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface CommitLine {
  key: string
  value: { path: string; content?: string; oid?: string; size?: number; summary?: string }
}

/** A server that follows the Hub's protocol for creating repositories and committing files, with a storage on another port. */
export class FakeHub {
  readonly token = 'hf_test_token'
  /** Files above this go to the storage, in parts of this size if they have more than one. */
  readonly largeBytes = 20_000
  readonly partBytes = 1_500_000
  readonly repositories = new Map<string, Map<string, Buffer>>()
  readonly objects = new Map<string, Buffer>()
  readonly #parts = new Map<string, Buffer[]>()
  readonly messages: string[] = []
  readonly requests: string[] = []
  /** Authorization headers that the storage got: there must be none. */
  readonly leaked: string[] = []
  /** Answers to give instead, once each, by "METHOD path" with a trailing * for any ending. */
  readonly failures: { request: string; status: number; body?: string; times: number }[] = []
  readonly #servers: Server[] = []
  url = ''
  storage = ''

  async start(): Promise<this> {
    const [hub, storage] = await Promise.all([
      this.#listen((request, response, body) => this.#hub(request, response, body)),
      this.#listen((request, response, body) => this.#storage(request, response, body)),
    ])
    this.url = hub
    this.storage = storage
    return this
  }

  close(): void {
    for (const server of this.#servers) server.close()
  }

  async #listen(
    answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void,
  ): Promise<string> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const name = `${request.method} ${request.url}`
        this.requests.push(name)
        const failure = this.failures.find(
          ({ request: wanted, times }) =>
            times > 0 && (wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted),
        )
        if (failure !== undefined) {
          failure.times--
          response.writeHead(failure.status).end(failure.body ?? '{}')
        } else answer(request, response, Buffer.concat(chunks))
      })
    })
    this.#servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  #hub(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const send = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    if (request.headers.authorization !== `Bearer ${this.token}`) {
      send(401, { error: 'Invalid credentials' })
      return
    }
    const { pathname } = new URL(request.url!, this.url)
    if (pathname === '/api/repos/create') {
      const { type, name, organization } = JSON.parse(String(body)) as Record<string, string>
      const key = `${type}s/${organization}/${name}`
      if (organization === 'other') {
        send(403, { error: 'You do not have the rights' })
        return
      }
      if (this.repositories.has(key)) {
        send(409, { error: 'You already created this repo' })
        return
      }
      this.repositories.set(key, new Map())
      send(200, { url: `${this.url}/${key}` })
      return
    }
    const batch = /^\/(datasets\/)?([^/]+\/[^/]+)\.git\/info\/lfs\/objects\/batch$/.exec(pathname)
    if (batch !== null) {
      send(200, this.#batch(String(body)))
      return
    }
    const [, key = '', action] =
      /^\/api\/((?:models|datasets)\/[^/]+\/[^/]+)\/(revision|preupload|commit)\/main$/.exec(pathname) ?? []
    const files = this.repositories.get(key)
    if (files === undefined) {
      send(404, { error: 'Repository not found' })
      return
    }
    if (action === 'revision') {
      const siblings = [...files].map(([rfilename, content]) => {
        const sha256 = createHash('sha256').update(content).digest('hex')
        const blobId = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
        return { rfilename, blobId, ...(content.length > this.largeBytes ? { lfs: { sha256 } } : {}) }
      })
      send(200, { sha: 'a'.repeat(40), siblings })
      return
    }
    if (action === 'preupload') {
      const { files: asked } = JSON.parse(String(body)) as { files: { path: string; size: number }[] }
      send(200, {
        files: asked.map(({ path, size }) => ({
          path,
          uploadMode: size > this.largeBytes ? 'lfs' : 'regular',
          shouldIgnore: false,
        })),
      })
      return
    }
    this.#commit(files, String(body), send)
  }

  #commit(files: Map<string, Buffer>, body: string, send: (status: number, value: unknown) => void): void {
    const lines = body.split('\n').map((line) => JSON.parse(line) as CommitLine)
    const missing = lines.find(({ key, value }) => key === 'lfsFile' && !this.objects.has(value.oid!))
    if (missing !== undefined) {
      send(400, { error: `${missing.value.path} was not uploaded` })
      return
    }
    for (const { key, value } of lines) {
      if (key === 'header') this.messages.push(value.summary!)
      else if (key === 'file') files.set(value.path, Buffer.from(value.content!, 'base64'))
      else files.set(value.path, this.objects.get(value.oid!)!)
    }
    send(200, { commitOid: 'b'.repeat(40), commitUrl: `${this.url}/commit` })
  }

  #batch(body: string): unknown {
    const { objects } = JSON.parse(body) as { objects: { oid: string; size: number }[] }
    return {
      objects: objects.map(({ oid, size }) => {
        if (this.objects.has(oid)) return { oid, size }
        const href = `${this.storage}/${oid}`
        const count = Math.ceil(size / this.partBytes)
        const parts = Object.fromEntries(
          Array.from({ length: count }, (_, index) => [
            String(index + 1).padStart(5, '0'),
            `${href}/${index + 1}`,
          ]),
        )
        const header = count === 1 ? {} : { chunk_size: String(this.partBytes), ...parts }
        return { oid, size, actions: { upload: { href, header } } }
      }),
    }
  }

  #storage(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    if (request.headers.authorization !== undefined) this.leaked.push(request.headers.authorization)
    const [, oid = '', part] = /^\/([0-9a-f]{64})(?:\/(\d+))?$/.exec(request.url!) ?? []
    if (request.method === 'POST') {
      const { parts } = JSON.parse(String(body)) as { parts: { partNumber: number; etag: string }[] }
      const stored = parts.map(({ partNumber, etag }) => {
        const chunk = this.#parts.get(oid)?.[partNumber - 1]
        return chunk !== undefined && etag === etagOf(chunk) ? chunk : Buffer.alloc(0)
      })
      this.#store(oid, Buffer.concat(stored), response)
    } else if (part !== undefined) {
      const chunks = this.#parts.get(oid) ?? []
      chunks[Number(part) - 1] = body
      this.#parts.set(oid, chunks)
      response.writeHead(200, { etag: etagOf(body) }).end()
    } else this.#store(oid, body, response)
  }

  #store(oid: string, content: Buffer, response: ServerResponse): void {
    const isRight = createHash('sha256').update(content).digest('hex') === oid
    if (isRight) this.objects.set(oid, content)
    response.writeHead(isRight ? 200 : 400).end()
  }
}

function etagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`
}
