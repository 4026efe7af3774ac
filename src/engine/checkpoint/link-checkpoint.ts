import { join, resolve } from 'node:path'
import { copyFile, linkOrCopy, writeFileAtomic } from '../../base/files/index.ts'
import {
  type CheckpointManifest,
  type DescribedContents,
  MANIFEST_FILE,
  manifestOf,
  readManifest,
} from './checkpoint-manifest.ts'
import { EngineError } from './engine-error.ts'
import { OPTIMIZER_FILE } from './optimizer-state.ts'
import { currentFolder, replaceFolder } from './replace-folder.ts'
import { INDEX_FILE, WEIGHTS_FILE } from './shards-read.ts'
import { json } from './shards-write.ts'

/**
 * Makes a second checkpoint of the same weights, without optimizer state. The weights are hard links where the file system
 * supports them, so this takes no time and no space.
 */
export function linkCheckpoint(from: string, to: string, contents: DescribedContents): CheckpointManifest {
  const [source, target] = [currentFolder(resolve(from)), resolve(to)]
  const known = readManifest(source)
  if (known === undefined)
    throw new EngineError(`${source} was not saved by coa`, { fix: 'Use `coa model convert`.' })
  const { files: all, metadata, parameters } = known
  // The index of a single file is there only to set it apart from the optimizer's.
  const isSingle = all.some(({ path }) => path === WEIGHTS_FILE)
  const files = all.filter(({ path }) => path !== OPTIMIZER_FILE && !(isSingle && path === INDEX_FILE))
  const manifest = manifestOf(target, files, {
    ...contents,
    metadata: { ...metadata, ...contents.metadata },
    parameters,
  })
  replaceFolder(target, (temporary) => {
    for (const { path } of files) {
      // People edit small files in place.
      const put = path.endsWith('.safetensors') ? linkOrCopy : copyFile
      put(join(source, path), join(temporary, path))
    }
    writeFileAtomic(join(temporary, MANIFEST_FILE), json(manifest))
  })
  return manifest
}
