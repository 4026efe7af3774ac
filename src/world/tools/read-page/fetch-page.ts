import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ToolError } from '../../../base/errors/index.ts'
import { isBlockedHost } from '../leak-guard.ts'
import { guardedLookup, isPublicAddress, refusal } from './address-guard.ts'

export interface FetchOptions {
  signal: AbortSignal
  /** Non-public hosts (with port, if not the default) that may be read. */
  allowHosts?: readonly string[]
  blockedHosts?: readonly string[]
  maxBytes?: number
  /** Truncate a larger page to `maxBytes` instead of refusing it. */
  cutAtLimit?: boolean
  maxRedirects?: number
  userAgent?: string
  /** Called before every request, including redirects. */
  mayFetch?: (url: URL) => Promise<boolean>
}

export interface FetchedPage {
  /** After redirects. */
  url: string
  contentType: string
  body: Buffer
}

const defaults = { maxBytes: 5_000_000, maxRedirects: 5, userAgent: 'coa-read-page/0.1' }

/** Fetches a page over HTTP. Every hop is checked: scheme, host, address, robots.txt. */
export async function fetchPage(address: string, options: FetchOptions): Promise<FetchedPage> {
  const settings = { ...defaults, ...options }
  let url = parseUrl(address)
  for (let hop = 0; hop <= settings.maxRedirects; hop++) {
    checkHost(url, settings)
    if (settings.mayFetch !== undefined && !(await settings.mayFetch(url))) {
      throw new ToolError(`${url.host} disallows ${url.pathname} in its robots.txt`)
    }
    const response = await send(url, settings)
    const target = redirectTarget(response, url)
    if (target === null) return readBody(response, url, settings)
    response.destroy()
    url = target
  }
  throw new ToolError(`${address} redirects more than ${settings.maxRedirects} times`)
}

function parseUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null)
    throw new ToolError(`"${address}" is not a valid URL`, {
      fix: 'Use a full URL (https://host/path), or a corpus source exactly as the search results show it.',
    })
  return url
}

function checkHost(url: URL, { allowHosts = [], blockedHosts }: FetchOptions): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ToolError(`${url.protocol} URLs are not supported`)
  if (url.username !== '' || url.password !== '')
    throw new ToolError('URLs with a user name or password are not supported')
  if (isBlockedHost(url.hostname, blockedHosts))
    throw new ToolError(`${url.hostname} is blocked: it hosts copies of benchmarks`)
  if (isAllowed(url, allowHosts)) return
  // A host given as an IP address never reaches the DNS lookup, so it is checked here.
  const bare = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(bare) !== 0 && !isPublicAddress(bare)) throw refusal(url.hostname)
}

function isAllowed(url: URL, allowHosts: readonly string[]): boolean {
  return allowHosts.includes(url.host)
}

function send(
  url: URL,
  { signal, userAgent, allowHosts = [] }: FetchOptions & { userAgent: string },
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const headers = {
      'User-Agent': userAgent,
      Accept: 'text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5',
      'Accept-Encoding': 'gzip, deflate, br',
    }
    const lookup = isAllowed(url, allowHosts) ? {} : { lookup: guardedLookup }
    // No pooled connections: one opened for an allowed host must not carry a request that is not allowed there.
    request(url, { signal, headers, agent: false, ...lookup })
      .on('response', resolve)
      .on('error', (cause) => {
        if (signal.aborted || cause instanceof ToolError) reject(signal.aborted ? signal.reason : cause)
        else
          reject(new ToolError(`${url.host} cannot be reached: ${cause.message}`, { cause, transient: true }))
      })
      .end()
  })
}

/** The redirect target, or null if there is none; any other non-success status is an error. */
function redirectTarget(response: IncomingMessage, from: URL): URL | null {
  const status = response.statusCode ?? 0
  if (status >= 200 && status < 300) return null
  const { location } = response.headers
  if (status >= 300 && status < 400 && location !== undefined && URL.canParse(location, from.href))
    return new URL(location, from)
  response.destroy()
  throw new ToolError(`${from.host} answered with status ${status}`, {
    transient: status === 429 || status >= 500,
    details: { status },
  })
}

/** The decompressed body; the limit applies to decompressed bytes, so that a compression bomb is stopped too. */
async function readBody(
  response: IncomingMessage,
  url: URL,
  { maxBytes, cutAtLimit }: { maxBytes: number; cutAtLimit?: boolean },
): Promise<FetchedPage> {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  const unpack = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }[encoding]
  const stream = unpack === undefined ? response : response.pipe(unpack())
  response.on('error', (error) => stream.destroy(error))
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBytes) continue
      if (cutAtLimit === true) break
      throw new ToolError(`${url.href} is larger than ${maxBytes} bytes`)
    }
  } catch (cause) {
    if (cause instanceof ToolError) throw cause
    throw new ToolError(`the connection to ${url.host} was lost: ${(cause as Error).message}`, {
      cause,
      transient: true,
    })
  } finally {
    response.destroy()
  }
  const body = Buffer.concat(chunks).subarray(0, maxBytes)
  return { url: url.href, contentType: response.headers['content-type'] ?? '', body }
}
