import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Observe } from '../../base/progress/index.ts'
import {
  ADAPTER_CONFIG,
  type CheckpointFile,
  EngineError,
  existingFolder,
  OPTIMIZER_FILE,
  verifyIfSavedByCoa,
} from '../checkpoint/index.ts'
import { download, sendFiles, TransferProgress } from './file-transfer.ts'
import { referTo } from './folder-reference.ts'
import type { ModelSession } from './model-session.ts'
import type { Wire } from './wire.ts'

export interface Transfer {
  wire: Wire
  session: ModelSession
  progress: Observe | undefined
}

interface ServerFile {
  name: string
  bytes: number
  sha256?: string
}

/**
 * Saves the model into `folder` and describes its files. A trainer on this machine writes them there itself; from another one
 * they are downloaded, and nothing stays on the server.
 */
export async function fetchCheckpoint(
  { wire, session, progress }: Transfer,
  name: string,
  folder: string,
  optimizer: boolean,
): Promise<(string | CheckpointFile)[]> {
  const saved = await session.numbered<{ files?: ServerFile[] }>('/save_weights', async () => {
    const reference = session.isRepeatedAfterRestart ? undefined : await referTo(wire, folder)
    const options = { ...(optimizer ? {} : { optimizer }) }
    return { ...options, ...(reference === undefined ? { path: name } : { folder: reference }) }
  })
  const at = `/training_runs/${encodeURIComponent(session.modelId)}/checkpoints`
  const listed = saved.files ?? (await wire.json<{ files: ServerFile[] }>(`${at}/${name}/files`)).files
  const files = listed.filter((file) => optimizer || file.name !== OPTIMIZER_FILE)
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const transfer = new TransferProgress('download', total, progress)
  const hashes = new Map(files.map((file) => [file.name, file.sha256]))
  for (const file of files) {
    if (basename(file.name) !== file.name || file.name.startsWith('.'))
      throw new EngineError(`The server listed a checkpoint file with the invalid name ${file.name}.`)
    const [from, to] = [`${at}/${name}/files/${encodeURIComponent(file.name)}`, join(folder, file.name)]
    if (saved.files === undefined) hashes.set(file.name, await download(wire, from, to, transfer))
    const { size } = statSync(to)
    if (size !== file.bytes)
      throw new EngineError(`${file.name} arrived with ${size} bytes instead of ${file.bytes}.`, {
        fix: 'Save again; the connection may have broken.',
      })
  }
  // A leftover copy wastes space but is not an error.
  if (saved.files === undefined)
    await wire.json(`${at}/weights/${name}`, { method: 'DELETE' }).catch(() => undefined)
  return files.map(({ name: path, bytes }) => {
    const hash = hashes.get(path)
    // Small files may still be edited.
    return hash === undefined || !path.endsWith('.safetensors') ? path : { path, bytes, sha256: hash }
  })
}

/** Loads a checkpoint into the model, with optimizer state if it is wanted and there is any; uploads it if necessary. */
export async function sendCheckpoint(
  { wire, session, progress }: Transfer,
  path: string,
  upload: string,
  optimizer: boolean,
): Promise<void> {
  const folder = existingFolder(path)
  const isWanted = (name: string): boolean => optimizer || name !== OPTIMIZER_FILE
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .filter(isWanted)
  verifyIfSavedByCoa(folder, isWanted)
  const reference = session.isRepeatedAfterRestart ? undefined : await referTo(wire, folder)
  if (reference !== undefined) {
    await session.numbered('/load_weights', { path: `folder://${reference}`, optimizer })
    return
  }
  await sendFiles(wire, folder, files, upload, progress)
  await session.numbered('/load_weights', { path: `upload://${upload}`, optimizer })
  // A leftover copy wastes space but is not an error.
  await wire.json(`/uploads/${upload}`, { method: 'DELETE' }).catch(() => undefined)
}

/** The server has its own name for the base model; locally the adapter refers to the folder. */
export function nameBase(folder: string, base: string): void {
  const path = join(folder, ADAPTER_CONFIG)
  const config = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  writeFileSync(path, `${JSON.stringify({ ...config, base_model_name_or_path: base }, null, 2)}\n`)
}
