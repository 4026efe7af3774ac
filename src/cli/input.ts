import { readFileSync } from 'node:fs'
import { UsageError } from '../errors/index.ts'

/** The text of a file, or of standard input for "-". */
export function readInput(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, {
      fix: 'Name an existing file, or - for standard input.',
      cause,
    })
  }
}
