import { readSync } from 'node:fs'

/** Longer lines are rejected on write, and skipped on read without being held in memory. */
export const MAX_LINE_BYTES = 256 * 1024 * 1024

export interface Line {
  /** Offset of the line in the file. */
  offset: number
  /** In bytes, including the newline. */
  length: number
  /** Without the newline; undefined if the line is too long. Valid until the next line is read. */
  bytes: Uint8Array | undefined
}

/** Reads the complete lines in a byte range. Anything after the last newline is skipped. */
export function* readLines(
  fd: number,
  from: number,
  until: number,
  limits: { chunkBytes?: number; maxLineBytes?: number } = {},
): Generator<Line> {
  const { chunkBytes = 1024 * 1024, maxLineBytes = MAX_LINE_BYTES } = limits
  const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(chunkBytes, until - from)))
  /** Earlier pieces of the line that the current chunk continues. */
  let pieces: Buffer[] = []
  let piecesLength = 0
  let lineOffset = from
  let position = from
  while (position < until) {
    const read = readSync(fd, chunk, 0, Math.min(chunk.length, until - position), position)
    if (read === 0) return
    position += read
    let begin = 0
    for (;;) {
      const newline = chunk.subarray(0, read).indexOf(0x0a, begin)
      if (newline === -1) break
      const rest = chunk.subarray(begin, newline)
      const length = piecesLength + rest.length + 1
      const tooLong = length > maxLineBytes
      const bytes = tooLong ? undefined : piecesLength === 0 ? rest : Buffer.concat([...pieces, rest])
      yield { offset: lineOffset, length, bytes }
      pieces = []
      piecesLength = 0
      lineOffset += length
      begin = newline + 1
    }
    if (begin < read) {
      piecesLength += read - begin
      // The chunk is reused, so the rest is copied; beyond the limit only its length is tracked.
      if (piecesLength < maxLineBytes) pieces.push(Buffer.from(chunk.subarray(begin, read)))
      else pieces = []
    }
  }
}
