import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const hash = (algorithm: string, ...parts: (string | Uint8Array)[]): string => {
  const digest = createHash(algorithm)
  for (const part of parts) digest.update(part)
  return digest.digest('hex')
}

/** How the server misbehaves. */
export interface Faults {
  /** Breaks the connection after this many bytes of a large file, as often as this says. */
  breakAfter?: { bytes: number; times: number }
  /** Sends other bytes of the same length. */
  wrongBytes?: string
  /** Ignores ranges. */
  wholeFiles?: boolean
  /** Sends large files slowly: 1 kB, then a pause. */
  pauseMs?: number
  /** Accepts requests for large files and sends nothing. */
  silent?: boolean
  /** Describes files without checksums. */
  noChecksums?: boolean
  /** Answers this status to the first requests. */
  busy?: number
}

export interface TestHub {
  /** Its URL; large files are redirected to another host, as the Hub does. */
  endpoint: string
  faults: Faults
  requests: IncomingMessage[]
  close: () => Promise<void>
}

export const COMMIT = `${'c0ffee'.repeat(6)}c0ff`

/** Behaves like the Hugging Face Hub: model information with checksums, redirects to a CDN, ranges, ETags, gated models. */
export async function startHub(
  models: Record<string, { files: Record<string, Uint8Array>; gated?: boolean; license?: string }>,
  { largeFrom = 4_000 } = {},
): Promise<TestHub> {
  const hub: TestHub = { endpoint: '', faults: {}, requests: [], close: async () => {} }
  const isLarge = (content: Uint8Array): boolean => content.length >= largeFrom
  const server = createServer((request, response) => {
    hub.requests.push(request)
    if ((hub.faults.busy ?? 0) > 0) {
      hub.faults.busy!--
      response.writeHead(503).end()
      return
    }
    const path = decodeURIComponent(new URL(request.url!, 'http://x').pathname)
    const [, asked] = /^\/api\/models\/([^/]+\/[^/]+)\/revision\//.exec(path) ?? []
    if (asked !== undefined) {
      describe(asked, path.split('/revision/')[1]!, request, response)
      return
    }
    const [, id, name] = /^\/(?:cdn\/)?([^/]+\/[^/]+)\/resolve\/[^/]+\/(.+)$/.exec(path) ?? []
    const model = models[id ?? '']
    const content = model?.files[name ?? '']
    if (content === undefined) return refuse(response, 404, 'EntryNotFound')
    const isHub = !path.startsWith('/cdn/')
    if (isHub && model!.gated === true && request.headers.authorization !== 'Bearer good')
      return refuse(response, request.headers.authorization === undefined ? 401 : 403, 'GatedRepo')
    if (isHub && isLarge(content)) {
      const { port } = server.address() as AddressInfo
      response.writeHead(302, { location: `http://localhost:${port}/cdn${request.url}` }).end()
      return
    }
    send(name!, content, request, response)
  })

  function describe(
    id: string,
    revision: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): ServerResponse {
    const model = models[id]
    const token = request.headers.authorization
    if (token === 'Bearer bad') {
      return response
        .writeHead(401, { 'x-error-message': 'Invalid credentials in Authorization header' })
        .end()
    }
    // Like the Hub: whoever does not say who they are does not learn which models exist.
    if (model === undefined) return refuse(response, token === undefined ? 401 : 404, 'RepoNotFound')
    if (revision !== 'main' && revision !== COMMIT) return refuse(response, 404, 'RevisionNotFound')
    const siblings = Object.entries(model.files).map(([rfilename, content]) => ({
      rfilename,
      ...(hub.faults.noChecksums === true
        ? {}
        : {
            size: content.length,
            blobId: hash('sha1', `blob ${content.length}\0`, content),
            ...(isLarge(content)
              ? { lfs: { sha256: hash('sha256', content), size: content.length, pointerSize: 134 } }
              : {}),
          }),
    }))
    const license = model.license === undefined ? {} : { cardData: { license: model.license } }
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(
      JSON.stringify({ id, sha: COMMIT, gated: model.gated ? 'manual' : false, siblings, ...license }),
    )
  }

  function send(name: string, content: Uint8Array, request: IncomingMessage, response: ServerResponse): void {
    const { faults } = hub
    const start =
      faults.wholeFiles === true ? undefined : /bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1]
    const from = Number(start ?? 0)
    const bytes = name === faults.wrongBytes ? content.map((byte) => byte ^ 1) : content
    const body = bytes.subarray(from)
    response.writeHead(start === undefined ? 200 : 206, {
      // A signed CDN address: another tag every time.
      etag: `"${hub.requests.length}"`,
      'content-length': body.length,
      ...(start === undefined
        ? {}
        : { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
    })
    if (isLarge(content) && faults.silent === true) {
      response.flushHeaders()
      return
    }
    if (isLarge(content) && faults.breakAfter !== undefined && faults.breakAfter.times > 0) {
      faults.breakAfter.times--
      response.write(body.subarray(0, faults.breakAfter.bytes), () =>
        setTimeout(() => response.destroy(), 100),
      )
      return
    }
    if (!isLarge(content) || faults.pauseMs === undefined) {
      response.end(body)
      return
    }
    void (async () => {
      for (let at = 0; at < body.length && !response.destroyed; at += 1000) {
        response.write(body.subarray(at, at + 1000))
        await new Promise((resolve) => setTimeout(resolve, faults.pauseMs))
      }
      response.end()
    })()
  }

  await new Promise<void>((resolve) => server.listen(0, resolve))
  hub.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  hub.close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return hub
}

function refuse(response: ServerResponse, status: number, code: string): ServerResponse {
  return response.writeHead(status, { 'x-error-code': code }).end()
}
