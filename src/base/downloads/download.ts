import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CoaError, StoreError, ToolError } from '../errors/index.ts'
import { backOff, pause, retryAfterMs } from '../retry/index.ts'
import type { PartFile } from './part-file.ts'

const LONGEST_PAUSE_MS = 120_000

export interface DownloadOptions {
  /** The error for a response that is not the file; a transient one is retried. */
  refused: (response: Response) => CoaError
  /**
   * A checksum that identifies the content, verified by the caller afterwards. A download is then resumed even if the server does not
   * say which version of the file it sends, or names it differently each time.
   */
  checksum?: string | undefined
  fetch?: typeof globalThis.fetch | undefined
  /** Sent as a bearer token, but not after a redirect to another host. */
  token?: string | undefined
  onBytes?: ((done: number, total: number | undefined) => void) | undefined
  signal?: AbortSignal | undefined
  attempts?: number | undefined
  /** Delay before the second attempt; it doubles after each attempt. */
  backOffMs?: number | undefined
  /** An attempt times out after this long without data. */
  stallMs?: number | undefined
}

/**
 * Downloads a file to `part`, resuming what an earlier attempt or process left there. Attempts that made progress do not
 * count toward the limit. The caller verifies the file and moves it into place.
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
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw diskFull(part, error)
      failures = part.bytes > before ? 1 : failures + 1
      if (failures >= attempts) throw finalError(url, error)
      const asked = CoaError.isInstance(error) ? Number(error.details['retryAfterMs'] ?? 0) : 0
      await pause(Math.max(asked, backOff(failures - 1, backOffMs, LONGEST_PAUSE_MS)), signal)
    }
  }
}

async function attempt(url: string, part: PartFile, options: DownloadOptions): Promise<void> {
  const { checksum, token, onBytes, stallMs = 60_000 } = options
  const known = part.version
  const from = known === undefined || (checksum !== undefined && known !== checksum) ? 0 : part.bytes
  // With compression, sizes and ranges would refer to the compressed bytes.
  const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'chain-of-agents' }
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  if (from > 0) headers['range'] = `bytes=${from}-`
  if (from > 0 && checksum === undefined) headers['if-range'] = known!
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error(`no data for ${stallMs} ms`)), stallMs)
  const signals = [stalled.signal, ...(options.signal ? [options.signal] : [])]
  try {
    const response = await (options.fetch ?? fetch)(url, { headers, signal: AbortSignal.any(signals) })
    if (response.status === 416 && sizeIn(response) === from) return
    if (response.status === 416) {
      part.remove()
      throw new ToolError(`${url} changed during the download`, { transient: true })
    }
    if (!response.ok || response.body === null) {
      const error = options.refused(response)
      const asked = retryAfterMs((name) => response.headers.get(name)) ?? 0
      Object.assign(error.details, { retryAfterMs: Math.min(asked, LONGEST_PAUSE_MS) })
      throw error
    }
    const isResumed = response.status === 206 && startIn(response) === from
    if (!isResumed) part.begin(checksum ?? versionOf(response))
    let done = isResumed ? from : 0
    const total = isResumed ? sizeIn(response) : lengthOf(response)
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

/** Only a strong validator allows resuming; a weak one does not guarantee identical bytes. */
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

function diskFull(part: PartFile, cause: unknown): StoreError {
  return new StoreError(`no space left on the disk for ${part.path} after ${part.bytes} bytes`, {
    fix: 'Free some space and run the same command again; the download will resume.',
    cause,
  })
}

function finalError(url: string, cause: unknown): CoaError {
  if (CoaError.isInstance(cause)) return cause
  const { message, cause: deeper } = cause as Error
  const reason = deeper instanceof Error && deeper.message !== '' ? deeper.message : message
  return new ToolError(`cannot download ${url}: ${reason}`, {
    fix: 'Check the connection and pull again; the download will resume.',
    transient: true,
    cause,
  })
}
