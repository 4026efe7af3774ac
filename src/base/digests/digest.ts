import { createHash, hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'

const CHUNK_BYTES = 1 << 20

/** SHA-256 in hex. */
export function sha256(data: string | NodeJS.ArrayBufferView): string {
  return hash('sha256', data, 'hex')
}

/** A short digest of all the given values. */
export function digestOf(...parts: readonly unknown[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 16)
}

/** SHA-256 of a file in hex, as `sha256sum` prints it, for files of any size. */
export function sha256OfFile(path: string): string {
  const digest = createHash('sha256')
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      digest.update(chunk.subarray(0, read))
    }
  } finally {
    closeSync(file)
  }
  return digest.digest('hex')
}
