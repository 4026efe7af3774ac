import { createWriteStream, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import {
  ADAPTER_CONFIG,
  currentFolder,
  EngineError,
  existingFolder,
  verifyIfSavedByCoa,
} from '../checkpoint/index.ts'
import { FILE_MS, sendFile } from './base-models.ts'
import type { ModelSession } from './model-session.ts'
import type { Wire } from './wire.ts'

/** Saves the model on the server, downloads the files to `folder` and returns their names; nothing stays on the server. */
export async function fetchCheckpoint(
  wire: Wire,
  session: ModelSession,
  name: string,
  folder: string,
): Promise<string[]> {
  await session.numbered('/save_weights', { path: name })
  const at = `/training_runs/${encodeURIComponent(session.modelId)}/checkpoints`
  const { files } = await wire.json<{ files: { name: string; bytes: number }[] }>(`${at}/${name}/files`)
  for (const file of files) {
    if (basename(file.name) !== file.name || file.name.startsWith('.'))
      throw new EngineError(`The server listed a checkpoint file with the invalid name ${file.name}.`)
    await download(wire, `${at}/${name}/files/${encodeURIComponent(file.name)}`, join(folder, file.name))
    const { size } = statSync(join(folder, file.name))
    if (size !== file.bytes)
      throw new EngineError(`${file.name} arrived with ${size} bytes instead of ${file.bytes}.`, {
        fix: 'Save again; the connection may have broken.',
      })
  }
  // A leftover copy wastes space but is not an error.
  await wire.json(`${at}/weights/${name}`, { method: 'DELETE' }).catch(() => undefined)
  return files.map((file) => file.name)
}

export async function download(wire: Wire, path: string, target: string): Promise<void> {
  const response = await wire.open(path, { timeoutMs: FILE_MS, accept: '*/*' })
  await pipeline(
    Readable.fromWeb(response.body as ReadableStream),
    createWriteStream(target, { flush: true }),
  )
}

/** Uploads a checkpoint and loads it into the model, with optimizer state if there is any. */
export async function sendCheckpoint(
  wire: Wire,
  session: ModelSession,
  path: string,
  upload: string,
  optimizer: boolean,
): Promise<void> {
  const folder = existingFolder(path)
  verifyIfSavedByCoa(folder)
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
  for (const name of files) await sendFile(wire, join(folder, name), upload, name)
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

/** Local reference to a checkpoint that stays on a server. */
export const REMOTE_FILE = 'tinker-checkpoint.json'

export interface RemoteCheckpoint {
  v: 1
  url: string
  /** The server's path: tinker://… */
  path: string
  baseModel: string
  rank: number
}

export function readRemote(folder: string): RemoteCheckpoint {
  try {
    const remote = JSON.parse(
      readFileSync(join(currentFolder(resolve(folder)), REMOTE_FILE), 'utf8'),
    ) as RemoteCheckpoint
    if (remote.v === 1 && typeof remote.path === 'string') return remote
  } catch {}
  throw new EngineError(`${folder} is not a checkpoint of this server: it has no ${REMOTE_FILE}.`, {
    fix: 'Pass a folder saved from the same server; weights cannot be uploaded to other servers.',
    details: { folder },
  })
}
