import { readFileSync } from 'node:fs'
import { UsageError } from '../base/errors/index.ts'

/** The exact text of a file, or of standard input for "-". Rejects anything that is not UTF-8 instead of mangling it. */
export function readInput(file: string): string {
  const name = file === '-' ? 'standard input' : file
  let bytes: Buffer
  try {
    bytes = readFileSync(file === '-' ? 0 : file)
  } catch (cause) {
    throw new UsageError(`cannot read ${name}: ${(cause as Error).message}`, {
      fix: 'Give the path of an existing file, or - for standard input.',
      cause,
    })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new UsageError(`${name} is not UTF-8 text`, {
      fix: 'Convert it to UTF-8 first.',
      cause,
    })
  }
}
