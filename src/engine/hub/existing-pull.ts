import { existsSync, readdirSync } from 'node:fs'
import { UsageError } from '../../base/errors/index.ts'
import { readCheckpointManifest, verifyCheckpoint } from '../checkpoint/index.ts'
import type { PulledModel } from './pulled-model.ts'

/** What an earlier pull of the same files left; throws if the folder has anything else. */
export function existingPull(
  folder: string,
  source: string,
  commit: string | undefined,
): PulledModel | undefined {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return undefined
  const known = readCheckpointManifest(folder)?.metadata
  if (known?.['source'] !== source || known['revision'] !== commit) {
    const other = typeof known?.['source'] === 'string' ? `: it has ${known['source']}` : ''
    throw new UsageError(`${folder} already exists${other}`, {
      fix: 'Choose another folder, or delete this one first.',
    })
  }
  const { license } = known
  return {
    folder,
    manifest: verifyCheckpoint(folder),
    source,
    ...(commit === undefined ? {} : { revision: commit }),
    ...(typeof license === 'string' ? { license } : {}),
    files: [],
    isNew: false,
  }
}
