import { readdirSync, statSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { UsageError } from '../../../base/errors/index.ts'

const readable = /\.(jsonl|ndjson|md|markdown|html?|txt)(\.gz)?$/i

/** The files to read: those given, and every readable file in the given folders, in order. */
export function findFiles(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => filesIn(normalize(path))))]
}

function filesIn(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) {
    throw new UsageError(`${path} does not exist`, { fix: 'Specify existing files or folders.' })
  }
  if (!stats.isDirectory()) return [path]
  const found = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && readable.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  if (found.length > 0) return found
  throw new UsageError(`no readable files in ${path}`, {
    fix: 'A corpus is built from .jsonl, .md, .html and .txt files.',
  })
}
