import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CoaError, ToolError } from '../../../base/errors/index.ts'
import { backOff, pause, retryAfterMs } from '../../../base/retry/index.ts'
import type { PartFile } from './part-file.ts'
import { responseError } from './response-errors.ts'

const LONGEST_PAUSE_MS = 120_000

export interface DownloadOptions {
  homepage: string
  fetch?: typeof globalThis.fetch | undefined
  /** Sent as a bearer token; a redirect to another host does not get it. */
  token?: string | undefined
  onBytes?: ((done: number, total: number | undefined) => void) | undefined
  signal?: AbortSignal | undefined
  attempts?: number | undefined
  /** The wait before the second attempt; it doubles after each further one. */
  backOffMs?: number | undefined
  /** Without a byte for so long, an attempt is given up. */
  stallMs?: number | undefined
}

/**
 * Brings a file into `part`, going on from what an earlier attempt or an earlier process left there. Attempts that
 * made progress do not count against the limit. The caller checks the bytes and moves them to their place.
 */
export async function download(url: string, part: PartFile, options: DownloadOptions): Promise<void> {
  const { attempts = 5, backOffMs = 1_000, signal } = options
  for (let failures = 0; ; ) {
    signal?.throwIfAborted()
    const before = part.bytes
    try {
      return await attempt(url, part, options)
    } catch (error) {
      signal?.throwIfAborted()
      if (CoaError.isInstance(error) && !(error instanceof ToolError && error.transient)) throw error
      failures = part.bytes > before ? 1 : failures + 1
      if (failures >= attempts) throw givenUp(url, error)
      const asked = CoaError.isInstance(error) ? Number(error.details['retryAfterMs'] ?? 0) : 0
      await pause(Math.max(asked, backOff(failures - 1, backOffMs, LONGEST_PAUSE_MS)), signal)
    }
  }
}

async function attempt(url: string, part: PartFile, options: DownloadOptions): Promise<void> {
  const { homepage, token, onBytes, stallMs = 60_000 } = options
  const from = part.version === undefined ? 0 : part.bytes
  // Packed on the way, sizes and ranges would be those of the packed bytes.
  const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'chain-of-agents' }
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  if (from > 0) Object.assign(headers, { range: `bytes=${from}-`, 'if-range': part.version })
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error(`nothing came for ${stallMs} ms`)), stallMs)
  const signals = [stalled.signal, ...(options.signal ? [options.signal] : [])]
  try {
    const response = await (options.fetch ?? fetch)(url, { headers, signal: AbortSignal.any(signals) })
    if (response.status === 416 && sizeIn(response) === from) return
    if (response.status === 416) {
      part.remove()
      throw new ToolError(`${url} is not the file that was begun`, { transient: true })
    }
    if (!response.ok || response.body === null) {
      const error = responseError(url, response, homepage, token !== undefined)
      const asked = retryAfterMs((name) => response.headers.get(name)) ?? 0
      Object.assign(error.details, { retryAfterMs: Math.min(asked, LONGEST_PAUSE_MS) })
      throw error
    }
    const isContinued = response.status === 206 && startIn(response) === from
    if (!isContinued) part.begin(versionOf(response))
    let done = isContinued ? from : 0
    const total = isContinued ? sizeIn(response) : lengthOf(response)
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, pass) {
        timer.refresh()
        done += chunk.length
        onBytes?.(done, total)
        pass(null, chunk)
      },
    })
    const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0])
    await pipeline(body, counted, createWriteStream(part.path, { flags: 'a' }), {
      signal: AbortSignal.any(signals),
    })
    if (total !== undefined && done !== total) {
      throw new ToolError(`${url} broke off after ${done} of ${total} bytes`, { transient: true })
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Only a strong mark can be used to go on; a weak one promises less than the same bytes. */
function versionOf({ headers }: Response): string | undefined {
  const tag = headers.get('etag')
  if (tag !== null) return tag.startsWith('W/') ? undefined : tag
  return headers.get('last-modified') ?? undefined
}

const contentRange = ({ headers }: Response) =>
  /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(headers.get('content-range') ?? '')
const startIn = (response: Response): number => Number(contentRange(response)?.[1] ?? Number.NaN)
const sizeIn = (response: Response): number | undefined => {
  const size = contentRange(response)?.[2]
  return size === undefined ? undefined : Number(size)
}
const lengthOf = ({ headers }: Response): number | undefined => {
  const length = headers.get('content-length')
  return length === null ? undefined : Number(length)
}

function givenUp(url: string, cause: unknown): CoaError {
  if (CoaError.isInstance(cause)) return cause
  const { message, cause: deeper } = cause as Error
  const reason = deeper instanceof Error && deeper.message !== '' ? deeper.message : message
  return new ToolError(`cannot download ${url}: ${reason}`, {
    fix: 'Check the connection and pull again: what has come so far is kept.',
    transient: true,
    cause,
  })
}
