import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from './api-error.ts'
import { isLoopback, KeyRing } from './keys.ts'
import type { ServeSection } from './settings.ts'

/**
 * Who may ask. On a loopback address, the Host header must name this machine, which stops web pages whose name is made to point
 * here; pages of other origins are refused unless they are listed. Beyond loopback, keys are required, and `serve.hosts`, if
 * set, lists the names.
 */
export class Guard {
  readonly #keys: KeyRing
  readonly #hosts: readonly string[] | undefined
  readonly #origins: ReadonlySet<string>

  constructor({ host, hosts, cors }: ServeSection, keys: readonly string[]) {
    this.#keys = new KeyRing(keys)
    this.#hosts =
      isLoopback(host) || hosts.length > 0 ? ['localhost', '127.0.0.1', '[::1]', host, ...hosts] : undefined
    this.#origins = new Set(cors)
  }

  /** Throws if the request comes from a page that may not send it. Sets the headers for one that may. */
  checkSender({ headers, rawHeaders }: IncomingMessage, outgoing: ServerResponse): void {
    const { host, origin } = headers
    const count = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
    if (host === undefined || count !== 1) throw new ApiError(400, 'the request needs one Host header')
    const name = URL.parse(`http://${host}`)?.hostname
    if (name === undefined) throw new ApiError(400, 'the Host header cannot be read')
    if (this.#hosts?.includes(name) === false)
      throw new ApiError(403, `this server does not answer to the name ${name}; add it to serve.hosts`)
    if (origin !== undefined && this.#origins.has(origin)) {
      outgoing.setHeader('access-control-allow-origin', origin)
      outgoing.setHeader('access-control-expose-headers', 'x-request-id, retry-after')
      outgoing.setHeader('vary', 'Origin')
      return
    }
    const site = headers['sec-fetch-site']
    const isForeign = origin !== undefined && URL.parse(origin)?.host !== host
    if (isForeign || site === 'cross-site' || site === 'same-site')
      throw new ApiError(403, 'web pages of other origins may not use this server; list them in serve.cors')
  }

  /** The answer to a browser that asks whether a page may send a request. */
  preflight({ headers }: IncomingMessage, outgoing: ServerResponse): void {
    outgoing
      .writeHead(204, {
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
        'access-control-max-age': '600',
      })
      .end()
  }

  checkKey({ headers }: IncomingMessage): void {
    if (this.#keys.admits(headers.authorization)) return
    throw new ApiError(401, 'the API key is missing or wrong; send it as "Authorization: Bearer KEY"', {
      code: 'invalid_api_key',
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
}
