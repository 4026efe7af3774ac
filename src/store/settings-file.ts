import { readFileSync } from 'node:fs'
import { StoreError } from '../base/errors/index.ts'
import { writeFileAtomic } from '../base/files/index.ts'
import { brokenSeal, openSealedText, sealText } from './seal.ts'

/** Keeps settings in a run folder, with a checksum in the last line. */
export function writeSettingsFile(path: string, toml: string): void {
  writeFileAtomic(path, sealText(toml, 'toml'))
}

/** The settings as they were written. A file of an older coa, or one without that line, is taken as it is. */
export function readSettingsFile(path: string): string {
  let sealed: string
  try {
    sealed = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new StoreError(`cannot read ${path}: ${(cause as Error).message}`, {
      fix: 'Check that the file exists and may be read.',
      cause,
    })
  }
  const { text, seal } = openSealedText(sealed)
  if (seal !== 'broken') return text
  throw brokenSeal(
    path,
    'Restore it from a copy, or remove its last line, the checksum, to take it as it is.',
  )
}
