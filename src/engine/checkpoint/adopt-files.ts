import { rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  ensureFolder,
  moveIntoPlace,
  removeLeftovers,
  temporaryPath,
  writeFileAtomic,
} from '../../base/files/index.ts'
import {
  type CheckpointFile,
  type CheckpointManifest,
  type DescribedContents,
  describeFile,
  MANIFEST_FILE,
  manifestOf,
} from './checkpoint-manifest.ts'
import { EngineError } from './engine-error.ts'
import { checkReplaceable, replaceFolder } from './replace-folder.ts'
import { isPlainName } from './shards-read.ts'
import { json } from './shards-write.ts'

/**
 * Creates a checkpoint from files written elsewhere, for example on another machine: `fill` puts them into a temporary
 * folder and returns their names, or their descriptions if they are known. An existing checkpoint at `path` stays until everything has arrived.
 */
export async function adoptFiles(
  path: string,
  contents: DescribedContents & { parameters: number },
  fill: (folder: string) => Promise<(string | CheckpointFile)[]>,
): Promise<CheckpointManifest> {
  const folder = resolve(path)
  checkReplaceable(folder)
  ensureFolder(dirname(folder))
  removeLeftovers(dirname(folder), basename(folder))
  const incoming = temporaryPath(folder)
  ensureFolder(incoming)
  try {
    const filled = await fill(incoming)
    const names = filled.map((each) => (typeof each === 'string' ? each : each.path))
    const wrong = names.find((name) => !isPlainName(name) || name === MANIFEST_FILE)
    if (wrong !== undefined) throw new EngineError(`a checkpoint cannot contain a file named ${wrong}`)
    const manifest = manifestOf(
      folder,
      filled.map((each) => (typeof each === 'string' ? describeFile(incoming, each) : each)).sort(byPath),
      contents,
    )
    replaceFolder(folder, (temporary) => {
      for (const name of names) moveIntoPlace(join(incoming, name), join(temporary, name))
      writeFileAtomic(join(temporary, MANIFEST_FILE), json(manifest))
    })
    return manifest
  } finally {
    rmSync(incoming, { recursive: true, force: true })
  }
}

function byPath(one: CheckpointFile, other: CheckpointFile): number {
  return one.path < other.path ? -1 : 1
}
