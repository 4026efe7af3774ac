import { rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  ensureFolder,
  moveIntoPlace,
  removeLeftovers,
  temporaryPath,
  writeFileAtomic,
} from '../../base/files/index.ts'
import { type CheckpointManifest, MANIFEST_FILE } from './checkpoint-manifest.ts'
import { EngineError } from './engine-error.ts'
import { type DescribedContents, manifestOf } from './manifest-of.ts'
import { checkReplaceable, replaceFolder } from './replace-folder.ts'
import { isPlainName } from './shards-read.ts'
import { json } from './shards-write.ts'

/**
 * Makes a checkpoint of files that someone else writes, such as another machine: `fill` puts them into a folder beside
 * `path` and names them. What was at `path` stays until all is there.
 */
export async function adoptFiles(
  path: string,
  contents: DescribedContents & { parameters: number },
  fill: (folder: string) => Promise<string[]>,
): Promise<CheckpointManifest> {
  const folder = resolve(path)
  checkReplaceable(folder)
  ensureFolder(dirname(folder))
  removeLeftovers(dirname(folder), basename(folder))
  const incoming = temporaryPath(folder)
  ensureFolder(incoming)
  try {
    const names = (await fill(incoming)).sort()
    const wrong = names.find((name) => !isPlainName(name) || name === MANIFEST_FILE)
    if (wrong !== undefined) throw new EngineError(`a checkpoint cannot have a file named ${wrong}`)
    const manifest = manifestOf(folder, incoming, names, contents)
    replaceFolder(folder, (temporary) => {
      for (const name of names) moveIntoPlace(join(incoming, name), join(temporary, name))
      writeFileAtomic(join(temporary, MANIFEST_FILE), json(manifest))
    })
    return manifest
  } finally {
    rmSync(incoming, { recursive: true, force: true })
  }
}
