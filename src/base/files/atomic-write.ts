import { closeSync, linkSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { type DurabilityOptions, moveIntoPlace } from './move.ts'
import { removeTemporary, temporaryPath } from './temporary-path.ts'

/** Replaces a file so that readers, and a restart after a kill, see either the old or the new content, never a part. */
export function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  { mode, durable }: DurabilityOptions & { mode?: number } = {},
): void {
  const write = (temporary: string): void => writeFileSync(temporary, content, { flag: 'wx', mode })
  replaceFile(path, write, { durable })
}

/** The same for content written in parts. */
export function writePartsAtomic(path: string, write: (add: (bytes: Uint8Array) => void) => void): void {
  replaceFile(path, (temporary) => {
    const file = openSync(temporary, 'wx')
    try {
      write((bytes) => writeFully(file, bytes))
    } finally {
      closeSync(file)
    }
  })
}

/** The same for any function that writes to a path; returns its result. */
export function replaceFile<T>(
  path: string,
  write: (temporary: string) => T,
  publishing?: DurabilityOptions,
): T {
  const temporary = temporaryPath(path)
  try {
    const result = write(temporary)
    moveIntoPlace(temporary, path, publishing)
    return result
  } catch (error) {
    removeTemporary(temporary)
    throw error
  }
}

/** Creates a complete file, or returns false if the file already exists. */
export function createFileAtomic(path: string, content: string): boolean {
  const temporary = temporaryPath(path)
  try {
    writeFileSync(temporary, content, { flag: 'wx', flush: true })
    linkSync(temporary, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    removeTemporary(temporary)
  }
}

/** A single call may write less than requested, and never more than 2 GiB. */
function writeFully(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, Math.min(bytes.length - done, 2 ** 30))
  }
}
