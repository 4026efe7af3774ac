import { createHash } from 'node:crypto'
import { createWriteStream, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Observe } from '../../base/progress/index.ts'
import type { Wire } from './wire.ts'

/** Files may be large and the connection slow. */
export const FILE_MS = 6 * 3_600_000

/** Bytes per request of an upload, and per write of a download. */
const PIECE = 16 << 20

/** Reports the bytes of several files as one transfer. */
export class TransferProgress {
  readonly #stage: string
  readonly #total: number
  readonly #observe: Observe | undefined
  #done = 0

  constructor(stage: string, total: number, observe: Observe | undefined) {
    this.#stage = stage
    this.#total = total
    this.#observe = observe
  }

  add(bytes: number): void {
    this.#done += bytes
    this.#observe?.({ stage: this.#stage, done: this.#done, total: this.#total, unit: 'bytes' })
  }
}

/** Returns the SHA-256 of the file, computed on the way. */
export async function download(
  wire: Wire,
  path: string,
  target: string,
  progress?: TransferProgress,
): Promise<string> {
  const response = await wire.open(path, { timeoutMs: FILE_MS, accept: '*/*' })
  const digest = createHash('sha256')
  await pipeline(
    Readable.fromWeb(response.body as ReadableStream),
    async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        digest.update(chunk)
        progress?.add(chunk.length)
        yield chunk
      }
    },
    createWriteStream(target, { flush: true, highWaterMark: PIECE }),
  )
  return digest.digest('hex')
}

/** Uploads files of a folder in pieces; a piece that fails is sent again. */
export async function sendFiles(
  wire: Wire,
  folder: string,
  names: readonly string[],
  upload: string,
  observe?: Observe,
): Promise<void> {
  const sizes = names.map((name) => statSync(join(folder, name)).size)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const progress = new TransferProgress('upload', total, observe)
  for (const [index, name] of names.entries())
    await sendFile(
      wire,
      join(folder, name),
      sizes[index]!,
      `/uploads/${upload}/${encodeURIComponent(name)}`,
      progress,
    )
}

async function sendFile(
  wire: Wire,
  path: string,
  size: number,
  to: string,
  progress: TransferProgress,
): Promise<void> {
  const file = await open(path)
  try {
    const buffer = new Uint8Array(Math.min(size, PIECE))
    let from = 0
    do {
      const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE, size - from), from)
      const data = buffer.subarray(0, bytesRead)
      await wire.json(`${to}?from=${from}&of=${size}`, {
        method: 'PUT',
        bytes: { type: 'application/octet-stream', data },
        timeoutMs: FILE_MS,
      })
      progress.add(bytesRead)
      from += bytesRead
    } while (from < size)
  } finally {
    await file.close()
  }
}
