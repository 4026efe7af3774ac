import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { UsageError } from '../errors/index.ts'

/** Streams the text of a file, decompressed if its name ends in .gz and without a byte order mark. */
export async function* readText(file: string): AsyncGenerator<string> {
  const source = createReadStream(file, { highWaterMark: 1 << 18 })
  const bytes = file.endsWith('.gz') ? source.pipe(createGunzip()) : source
  source.on('error', (error) => bytes.destroy(error))
  const decoder = new TextDecoder('utf-8')
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk as Uint8Array, { stream: true })
    yield decoder.decode()
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, {
      fix: 'Check that the file exists, is complete and is what its name says.',
      cause,
    })
  } finally {
    source.destroy()
  }
}
