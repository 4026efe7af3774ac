import { readSync } from 'node:fs'

/** The bytes [from, until) of a file; fewer if the file ends earlier. */
export function readRange(fd: number, from: number, until: number): Buffer {
  const buffer = Buffer.allocUnsafe(until - from)
  let filled = 0
  while (filled < buffer.length) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, from + filled)
    if (read === 0) break
    filled += read
  }
  return buffer.subarray(0, filled)
}
