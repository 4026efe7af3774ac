import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { EngineError } from '../checkpoint/index.ts'

const BLOCK = 512
/** Headers with more than this are not those of a checkpoint. */
const MAX_EXTENDED = 1 << 20

/** Writes the files of a tar archive, compressed or not, to a folder and returns their names; subfolders are refused. */
export async function unpack(source: AsyncIterable<Uint8Array>, folder: string): Promise<string[]> {
  const bytes = new Bytes(await plain(source))
  const names: string[] = []
  let extended: Record<string, string> = {}
  for (;;) {
    const header = await bytes.take(BLOCK)
    if (header.length < BLOCK) throw new EngineError('The archive of the checkpoint is incomplete.')
    if (header.every((byte) => byte === 0)) break
    const kind = String.fromCharCode(header[156]!)
    const size = Number(extended['size'] ?? Number.parseInt(text(header, 124, 12), 8))
    if (!Number.isSafeInteger(size) || size < 0)
      throw new EngineError('The server sent a checkpoint that is not a tar archive.')
    const padding = (BLOCK - (size % BLOCK)) % BLOCK
    if (kind === 'x' && size <= MAX_EXTENDED) {
      extended = records(Buffer.from(await bytes.take(size)).toString())
      await bytes.skip(padding)
      continue
    }
    const name = posix.normalize(extended['path'] ?? nameIn(header))
    extended = {}
    if (kind === '0' || kind === '\0') {
      if (name.includes('/') || name.includes('\\') || name.startsWith('.'))
        throw new EngineError(`The archive of the checkpoint has a file with the invalid name ${name}.`)
      await bytes.write(size, join(folder, name))
      names.push(name)
    } else await bytes.skip(size)
    await bytes.skip(padding)
  }
  return names
}

function nameIn(header: Uint8Array): string {
  const [name, prefix] = [text(header, 0, 100), text(header, 345, 155)]
  return prefix === '' ? name : `${prefix}/${name}`
}

function text(header: Uint8Array, start: number, length: number): string {
  const field = Buffer.from(header.subarray(start, start + length)).toString()
  return field.split('\0', 1)[0]!.trim()
}

/** Extended headers: lines of "length key=value". */
function records(lines: string): Record<string, string> {
  return Object.fromEntries(
    [...lines.matchAll(/^\d+ (path|size)=(.*)$/gm)].map(([, key, value]) => [key, value]),
  )
}

/** The contents of a gzip file, or of any other file as it is. */
async function plain(source: AsyncIterable<Uint8Array>): Promise<AsyncIterator<Uint8Array>> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await chunks.next()
  const all = (async function* () {
    for (let each = first; !each.done; each = await chunks.next()) yield each.value
  })()
  const isGzip = !first.done && first.value[0] === 0x1f && first.value[1] === 0x8b
  if (!isGzip) return all
  const compressed = Readable.from(all, { objectMode: false })
  const gunzip = createGunzip()
  compressed.on('error', (cause) => gunzip.destroy(cause))
  return compressed.pipe(gunzip)[Symbol.asyncIterator]()
}

/** A stream read in parts of a given size. */
class Bytes {
  readonly #chunks: AsyncIterator<Uint8Array>
  #left: Uint8Array = new Uint8Array()

  constructor(chunks: AsyncIterator<Uint8Array>) {
    this.#chunks = chunks
  }

  /** Fewer bytes only at the end of the stream. */
  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for await (const part of this.#parts(count)) parts.push(part)
    return Buffer.concat(parts)
  }

  async skip(count: number): Promise<void> {
    for await (const _ of this.#parts(count));
  }

  async write(count: number, path: string): Promise<void> {
    const file = createWriteStream(path, { flush: true })
    let written = 0
    for await (const part of this.#parts(count)) {
      written += part.length
      if (!file.write(part)) await once(file, 'drain')
    }
    file.end()
    await once(file, 'close')
    if (written < count) throw new EngineError('The archive of the checkpoint is incomplete.')
  }

  async *#parts(count: number): AsyncGenerator<Uint8Array> {
    let missing = count
    while (missing > 0) {
      if (this.#left.length === 0) {
        const next = await this.#chunks.next()
        if (next.done) return
        this.#left = next.value
      }
      const part = this.#left.subarray(0, missing)
      this.#left = this.#left.subarray(part.length)
      missing -= part.length
      yield part
    }
  }
}
