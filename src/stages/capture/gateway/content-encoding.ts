import type { Transform } from 'node:stream'
import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzipSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib'

interface Encoding {
  /** Decodes what has arrived of a body, even if it breaks off. */
  stream: () => Transform
  whole: (bytes: Buffer) => Buffer
}

const gzip: Encoding = {
  stream: () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  whole: (bytes) => gunzipSync(bytes),
}

const encodings: Readonly<Record<string, Encoding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: {
    stream: () => createInflate({ finishFlush: constants.Z_SYNC_FLUSH }),
    whole: (bytes) => inflateSync(bytes),
  },
  br: {
    stream: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
    whole: (bytes) => brotliDecompressSync(bytes),
  },
  zstd: {
    stream: () => createZstdDecompress({ finishFlush: constants.ZSTD_e_flush }),
    whole: (bytes) => zstdDecompressSync(bytes),
  },
}

const encodingOf = (name = ''): Encoding | undefined => encodings[name.trim().toLowerCase()]

/** A decoder for a body that arrives in chunks; undefined if it is not encoded. */
export const decoderOf = (encoding: string | undefined): Transform | undefined =>
  encodingOf(encoding)?.stream()

/** The text of a body. */
export function textOfBody(bytes: Buffer, encoding: string | undefined): string {
  try {
    return (encodingOf(encoding)?.whole(bytes) ?? bytes).toString()
  } catch {
    return bytes.toString()
  }
}
