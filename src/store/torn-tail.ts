import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { syncFolder } from '../base/files/index.ts'
import { MAX_LINE_BYTES } from './line-reader.ts'
import { readRange } from './read-range.ts'

/** The incomplete end of a file, left by a writer that was killed or lost power. */
export interface TornTail {
  path: string
  offset: number
  bytes: number
  /** The start of the torn bytes, for display. */
  text: string
  /** Where the bytes were saved before truncation; absent if the file was opened read-only. */
  savedTo?: string
}

const CHUNK = 64 * 1024

/** Finds what follows the last complete line accepted by `isGood`; undefined if nothing does. */
export function findTornTail(path: string, isGood: (line: Uint8Array) => boolean): TornTail | undefined {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const offset = endOfLastGoodLine(fd, size, isGood)
    if (offset === size) return undefined
    const text = readRange(fd, offset, Math.min(size, offset + 200)).toString('utf8')
    return { path, offset, bytes: size - offset, text }
  } finally {
    closeSync(fd)
  }
}

/** Saves the torn bytes next to the file and then truncates it. If killed in between, both are repeated next time. */
export function truncateTornTail(path: string, tail: TornTail): TornTail {
  const fd = openSync(path, 'r+')
  try {
    const savedTo = saveTail(fd, path, tail)
    ftruncateSync(fd, tail.offset)
    fsyncSync(fd)
    return { ...tail, savedTo }
  } finally {
    closeSync(fd)
  }
}

function endOfLastGoodLine(fd: number, size: number, isGood: (line: Uint8Array) => boolean): number {
  let end = size
  while (end > 0) {
    const start = startOfLine(fd, end)
    const ends = readRange(fd, end - 1, end)[0] === 0x0a
    if (ends && end - start <= MAX_LINE_BYTES && isGood(readRange(fd, start, end - 1))) return end
    end = start
  }
  return 0
}

/** The start of the line that ends at `end`, whose last byte may be its newline. */
function startOfLine(fd: number, end: number): number {
  let upper = end - 1
  while (upper > 0) {
    const lower = Math.max(0, upper - CHUNK)
    const newline = readRange(fd, lower, upper).lastIndexOf(0x0a)
    if (newline !== -1) return lower + newline + 1
    upper = lower
  }
  return 0
}

function saveTail(fd: number, path: string, tail: TornTail): string {
  const stamp = new Date().toISOString().replaceAll(':', '').replace('.', '')
  const name = basename(path, extname(path))
  for (let attempt = 0; ; attempt++) {
    const target = join(dirname(path), `${name}.torn-${stamp}${attempt === 0 ? '' : `-${attempt}`}`)
    let output: number
    try {
      output = openSync(target, 'wx')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw error
    }
    try {
      const end = tail.offset + tail.bytes
      for (let from = tail.offset; from < end; from += CHUNK) {
        writeFileSync(output, readRange(fd, from, Math.min(end, from + CHUNK)))
      }
      fsyncSync(output)
    } finally {
      closeSync(output)
    }
    syncFolder(dirname(path))
    return target
  }
}
