import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { EngineError } from './engine-error.ts'
import { parseStrictJson } from './strict-json.ts'

/** Opens a regular file for the duration of `use`; never blocks on a pipe or device. */
export function withFile<T>(path: string, use: (file: number, bytes: number) => T): T {
  let file: number
  try {
    if (!statSync(path).isFile()) throw new Error('not a regular file')
    file = openSync(path, 'r')
  } catch (cause) {
    throw unreadable(path, cause)
  }
  try {
    return use(file, fstatSync(file).size)
  } catch (cause) {
    throw cause instanceof EngineError ? cause : unreadable(path, cause)
  } finally {
    closeSync(file)
  }
}

function unreadable(path: string, cause: unknown): EngineError {
  return new EngineError(`cannot read ${path}: ${(cause as Error).message}`, {
    fix: 'Check that the file exists and is readable.',
    details: { path },
    cause,
  })
}

/** Fills all of `target`, in several calls, because one reads at most 2 GiB. */
export function readFully(file: number, target: Uint8Array, position: number): void {
  for (let done = 0; done < target.length; ) {
    const read = readSync(file, target, done, Math.min(target.length - done, 2 ** 30), position + done)
    if (read === 0) throw new Error(`the file ends after ${position + done} bytes`)
    done += read
  }
}

/** Larger than any tokenizer or index; keeps a wrong file from filling the memory. */
const MAX_TEXT_BYTES = 200_000_000

function readText(path: string): string {
  return withFile(path, (file, bytes) => {
    if (bytes > MAX_TEXT_BYTES) throw new Error(`too large for a text file (${bytes} bytes)`)
    const content = new Uint8Array(bytes)
    readFully(file, content, 0)
    return decodeText(content)
  })
}

export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

export function readJsonFile(path: string): unknown {
  const text = readText(path)
  try {
    return parseStrictJson(text, 64)
  } catch (cause) {
    throw new EngineError(`${path} is damaged: ${(cause as Error).message}`, {
      fix: gitPointerFix(text) ?? 'Download or write the file again.',
      details: { path },
      cause,
    })
  }
}

/** A clone without Git LFS has small pointer files in place of the large ones. */
export function gitPointerFix(start: string): string | undefined {
  return start.startsWith('version ') ? 'It is a Git LFS pointer: run `git lfs pull`.' : undefined
}
