import type { Transform } from 'node:stream'
// Not by name: old versions of Node lack some, and an import of them would fail before coa can say which Node it needs.
import zlib from 'node:zlib'

interface Encoding {
  /** Decodes what has arrived of a body, even if it breaks off. */
  stream: () => Transform
  whole: (bytes: Buffer) => Buffer
}

const gzip: Encoding = {
  stream: () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  whole: (bytes) => zlib.gunzipSync(bytes),
}

const encodings: Readonly<Record<string, Encoding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: {
    stream: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
    whole: (bytes) => zlib.inflateSync(bytes),
  },
  br: {
    stream: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
    whole: (bytes) => zlib.brotliDecompressSync(bytes),
  },
  zstd: {
    stream: () => zlib.createZstdDecompress({ finishFlush: zlib.constants.ZSTD_e_flush }),
    whole: (bytes) => zlib.zstdDecompressSync(bytes),
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
