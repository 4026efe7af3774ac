import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { UsageError } from '../errors/index.ts'

/** Streams the text of a file, decompressed if it is gzipped, and without a byte order mark. */
export async function* readText(file: string): AsyncGenerator<string> {
  try {
    const [first, second] = beginningOf(file)
    const source = createReadStream(file, { highWaterMark: 1 << 18 })
    const bytes = first === 0x1f && second === 0x8b ? source.pipe(createGunzip()) : source
    source.on('error', (error) => bytes.destroy(error))
    try {
      let decoder: InstanceType<typeof TextDecoder> | undefined
      for await (const chunk of bytes) {
        decoder ??= decoderOf(chunk as Uint8Array)
        yield decoder.decode(chunk as Uint8Array, { stream: true })
      }
      if (decoder !== undefined) yield decoder.decode()
    } finally {
      source.destroy()
    }
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, {
      fix: 'Check that the file exists, is complete and is what its name says.',
      cause,
    })
  }
}

function beginningOf(file: string): Uint8Array {
  const descriptor = openSync(file, 'r')
  try {
    const bytes = new Uint8Array(2)
    return bytes.subarray(0, readSync(descriptor, bytes))
  } finally {
    closeSync(descriptor)
  }
}

/** PowerShell writes redirected output as UTF-16, with a mark at its beginning. */
function decoderOf([first, second]: Uint8Array): InstanceType<typeof TextDecoder> {
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le')
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be')
  return new TextDecoder('utf-8')
}
