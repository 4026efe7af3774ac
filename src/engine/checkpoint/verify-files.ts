import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CheckpointManifest,
  describeFile,
  fingerprintOf,
  MANIFEST_FILE,
  readManifest,
} from './checkpoint-manifest.ts'
import { EngineError, listed } from './engine-error.ts'

/** Verifies files against the checksums in the manifest; one error names all that are missing or changed. */
export function verifyFiles(
  folder: string,
  manifest: CheckpointManifest,
  isWanted: (name: string) => boolean = () => true,
): void {
  const wanted = manifest.files.filter(({ path }) => isWanted(path))
  const problems = wanted.flatMap((expected) => {
    if (!existsSync(join(folder, expected.path))) return [`${expected.path} is missing`]
    const found = describeFile(folder, expected.path)
    if (found.bytes !== expected.bytes) {
      return [`${expected.path} has ${found.bytes} bytes instead of ${expected.bytes}`]
    }
    return found.sha256 === expected.sha256 ? [] : [`${expected.path} has changed`]
  })
  if (fingerprintOf(manifest.files) !== manifest.fingerprint) problems.push('the file list was changed')
  if (problems.length === 0) return
  throw new EngineError(`${folder} has changed since it was saved: ${listed(problems)}`, {
    fix: `Restore the files from a backup or use another checkpoint; without ${MANIFEST_FILE}, the folder is not verified.`,
    details: { folder, problems },
  })
}

/** Verifies files if coa saved the folder; models from other software have no checksums. */
export function verifyIfSavedByCoa(folder: string, isWanted?: (name: string) => boolean): void {
  const manifest = readManifest(folder)
  if (manifest !== undefined) verifyFiles(folder, manifest, isWanted)
}
