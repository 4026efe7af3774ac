import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fingerprintOfFolder, type OpenCheckpoint, readTokenizerFiles } from '../checkpoint/index.ts'

/** What a derived model inherits: tokenizer, training progress and lineage. */
export function inherited({ folder, manifest }: Pick<OpenCheckpoint, 'folder' | 'manifest'>) {
  return {
    ...(existsSync(join(folder, 'tokenizer.json')) ? { files: readTokenizerFiles(folder) } : {}),
    stage: manifest?.stage ?? ('import' as const),
    step: manifest?.step ?? 0,
    parent: {
      ...(manifest === undefined ? {} : { id: manifest.id }),
      fingerprint: fingerprintOfFolder(folder),
      path: folder,
    },
  }
}

/** Resolves symbolic links. */
export function isSameFolder(one: string, other: string): boolean {
  return resolved(one) === resolved(other)
}

function resolved(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path)
}
