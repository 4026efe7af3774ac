import { closeSync, linkSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { moveIntoPlace, type Publishing } from './move.ts'
import { removeTemporary, temporaryPath } from './temporary-path.ts'

/** Replaces a file so that a reader, or the next start after a kill, sees the old or the new one, never a part. */
export function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  { mode, durable }: Publishing & { mode?: number } = {},
): void {
  const write = (temporary: string): void => writeFileSync(temporary, content, { flag: 'wx', mode })
  replaceFile(path, write, { durable })
}

/** The same for content that comes in parts. */
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

/** The same for whatever can write to a path. Returns what it returns. */
export function replaceFile<T>(path: string, write: (temporary: string) => T, publishing?: Publishing): T {
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

/** Makes a file, complete, unless there is one of that name: then it stays as it is, and the answer is false. */
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

/** One call may write less than all, and never more than 2 GiB. */
function writeFully(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, Math.min(bytes.length - done, 2 ** 30))
  }
}
