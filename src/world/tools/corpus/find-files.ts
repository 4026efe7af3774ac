import { readdirSync, statSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { UsageError } from '../../../base/errors/index.ts'

const readable = /\.(jsonl|ndjson|md|markdown|html?|txt)(\.gz)?$/i

/** The files to read: those named, and for a folder every file below it that can be read, in order. */
export function findFiles(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => below(normalize(path))))]
}

function below(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) {
    throw new UsageError(`there is no file ${path}`, { fix: 'Name existing files or folders.' })
  }
  if (!stats.isDirectory()) return [path]
  const found = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && readable.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  if (found.length > 0) return found
  throw new UsageError(`there is nothing to read in ${path}`, {
    fix: 'A corpus is made of .jsonl, .md, .html and .txt files.',
  })
}
