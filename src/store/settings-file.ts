import { readFileSync } from 'node:fs'
import { StoreError } from '../base/errors/index.ts'
import { writeFileAtomic } from '../base/files/index.ts'
import { checksumError, readCheckedText, withTextChecksum } from './checksum.ts'

/** Saves settings in a run folder, with a checksum in the last line. */
export function writeSettingsFile(path: string, toml: string): void {
  writeFileAtomic(path, withTextChecksum(toml, 'toml'))
}

/**
 * Reads the saved settings. A file without a checksum, from an older version or edited by hand, is accepted as it is.
 */
export function readSettingsFile(path: string): string {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new StoreError(`cannot read ${path}: ${(cause as Error).message}`, {
      fix: 'Check that the file exists and is readable.',
      cause,
    })
  }
  const { text, state } = readCheckedText(content)
  if (state !== 'broken') return text
  throw checksumError(
    path,
    'Restore it from a backup, or remove its last line, the checksum, to accept it as it is.',
  )
}
