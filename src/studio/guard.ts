import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Problem } from './problem.ts'

/** Sent with every response. Nothing from elsewhere is loaded, and no other page may frame this one. */
export const securityHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

const wildcards = ['0.0.0.0', '::', '[::]']

/**
 * Who may use the studio. Each request has to name this server, which stops pages whose name is made to point here (DNS rebinding), must
 * not come from a page of another origin, and needs the token, in a cookie or as `Authorization: Bearer`.
 */
export class Guard {
  readonly token: string
  readonly #digest: Buffer
  readonly #names: ReadonlySet<string>
  readonly #anyAddress: boolean
  readonly #port: string

  constructor({
    host,
    port,
    token = randomBytes(32).toString('base64url'),
  }: { host: string; port: number; token?: string }) {
    this.token = token
    this.#digest = digestOf(token)
    this.#names = new Set(['localhost', '127.0.0.1', '[::1]', host.includes(':') ? `[${host}]` : host])
    // A name could be made to point here, but an address cannot.
    this.#anyAddress = wildcards.includes(host)
    this.#port = String(port)
  }

  /** Named by the port, because cookies are shared between ports. */
  get cookie(): string {
    return `coa-studio-${this.#port}`
  }

  checkSender({ headers, rawHeaders, method }: IncomingMessage, path: string): void {
    const { host, origin } = headers
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
    if (host === undefined || hosts.length !== 1) throw new Problem(400, 'the request needs one Host header')
    if (!this.#isOwn(host)) throw new Problem(403, 'this studio does not answer to that name')
    if (origin !== undefined && origin !== `http://${host}`)
      throw new Problem(403, 'pages of other origins may not use the studio')
    const site = headers['sec-fetch-site']
    if (site === undefined || site === 'same-origin' || site === 'none') return
    // A link to the page, from elsewhere, has no effect.
    const isLink = method === 'GET' && !path.startsWith('/api/') && headers['sec-fetch-mode'] === 'navigate'
    if (!isLink || headers['sec-fetch-dest'] !== 'document')
      throw new Problem(403, 'pages of other origins may not use the studio')
  }

  #isOwn(host: string): boolean {
    const [, name = '', port = '80'] = /^(\[[\da-f:.]+\]|[^:]+)(?::(\d+))?$/i.exec(host.toLowerCase()) ?? []
    if (port !== this.#port) return false
    return this.#names.has(name) || (this.#anyAddress && isIP(name.replace(/^\[|\]$/g, '')) !== 0)
  }

  /** Whether the token is in the cookie or in the header. */
  admits({ headers }: IncomingMessage): boolean {
    const [, bearer] = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '') ?? []
    const cookies = (headers.cookie ?? '').split(';').flatMap((pair) => {
      const [name, value] = pair.trim().split('=', 2)
      return name === this.cookie && value !== undefined ? [value] : []
    })
    return [...cookies, ...(bearer === undefined ? [] : [bearer])].some((one) => this.isToken(one))
  }

  isToken(text: string): boolean {
    return timingSafeEqual(digestOf(text), this.#digest)
  }

  setCookie(): string {
    return `${this.cookie}=${this.token}; HttpOnly; SameSite=Strict; Path=/`
  }

  /** What a request with effects also needs: other pages cannot send it without asking, and they get no permission. */
  checkAction({ headers }: IncomingMessage): void {
    if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
      throw new Problem(415, 'the request needs "Content-Type: application/json"')
    if (headers['x-coa'] !== 'studio') throw new Problem(403, 'the request needs the header "x-coa: studio"')
  }
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
