import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { EngineError } from '../../checkpoint/index.ts'

export interface UnpackOptions {
  into: string
  /** As npm writes it: `sha512-` and base64. */
  integrity: string
  /** Whether a file, named by its path in the package, is written. */
  keeps: (path: string) => boolean
}

/**
 * Unpacks an npm archive. The checksum is known only at the end, so `into` should be a temporary folder; on a mismatch this
 * throws. Only plain files are written, as npm does; all of an archive's other entries are skipped.
 */
export async function unpack(archive: string, { into, integrity, keeps }: UnpackOptions): Promise<void> {
  const hash = createHash('sha512')
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, pass) {
      hash.update(chunk)
      pass(null, chunk)
    },
  })
  const damaged = (cause?: unknown): EngineError =>
    new EngineError(`${archive} is not the expected package: its checksum is different.`, {
      fix: 'Download it again. If it stays different, the registry or a proxy serves another file: do not use it.',
      cause,
    })
  try {
    await pipeline(createReadStream(archive), hashed, createGunzip(), async (chunks) => {
      for await (const { path, content } of tarFiles(chunks)) {
        if (!keeps(path)) continue
        const file = join(into, path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, content)
      }
    })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code?.startsWith('Z_') || cause instanceof TarError)
      throw damaged(cause)
    throw cause
  }
  if (`sha512-${hash.digest('base64')}` !== integrity) throw damaged()
}

class TarError extends Error {}

const BLOCK = 512

/** The plain files of a tar stream, one at a time in memory, named without their first folder, which npm ignores as well. */
async function* tarFiles(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ path: string; content: Buffer }> {
  const take = reader(chunks)
  for (;;) {
    const header = await take(BLOCK)
    // The end: blocks of zeros, which some writers leave out.
    if (header === undefined || header.every((byte) => byte === 0)) break
    const text = (from: number, to: number): string =>
      header.toString('utf8', from, to).replace(/\0.*$/s, '').trim()
    const size = Number.parseInt(text(124, 136), 8)
    if (text(257, 262) !== 'ustar' || !Number.isSafeInteger(size)) throw new TarError('not a tar archive')
    const padded = await take(Math.ceil(size / BLOCK) * BLOCK)
    if (padded === undefined) throw new TarError('the archive is cut off')
    const [type, name, prefix] = [text(156, 157), text(0, 100), text(345, 500)]
    const path = (prefix === '' ? name : `${prefix}/${name}`).replace(/^[^/]*\//, '')
    if (type !== '0' && type !== '') continue
    if (path.split('/').includes('..')) throw new TarError(`${path} leaves the archive's folder`)
    yield { path, content: padded.subarray(0, size) }
  }
  // So that the checksum covers the whole archive.
  while ((await take(BLOCK)) !== undefined);
}

/** Reads an exact number of bytes from a stream; undefined at its end. */
function reader(chunks: AsyncIterable<Buffer>): (count: number) => Promise<Buffer | undefined> {
  const source = chunks[Symbol.asyncIterator]()
  let held: Buffer[] = []
  let bytes = 0
  return async (count) => {
    while (bytes < count) {
      const { value, done } = await source.next()
      if (done === true) return undefined
      held.push(value)
      bytes += value.length
    }
    const all = held.length === 1 ? held[0]! : Buffer.concat(held)
    held = [all.subarray(count)]
    bytes -= count
    return all.subarray(0, count)
  }
}
