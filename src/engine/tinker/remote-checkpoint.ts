import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { currentFolder, EngineError } from '../checkpoint/index.ts'
import { FILE_MS } from './file-transfer.ts'
import type { ModelSession } from './model-session.ts'
import { unpack } from './unpack.ts'
import type { Wire } from './wire.ts'

/** Local reference to a checkpoint that stays on a server. */
const REMOTE_FILE = 'tinker-checkpoint.json'

interface RemoteCheckpoint {
  v: 1
  url: string
  /** The server's path: tinker://… */
  path: string
  baseModel: string
  /** 0: all parameters were trained. */
  rank: number
}

/**
 * Saves the model on a server that accepts no uploads: the checkpoint stays there, to be loaded again. The weights are also
 * downloaded, as a PEFT adapter or a whole model, so that everything else can open the folder.
 */
export async function saveRemotely(
  wire: Wire,
  session: ModelSession,
  name: string,
  folder: string,
  model: Pick<RemoteCheckpoint, 'baseModel' | 'rank'>,
): Promise<string[]> {
  const weights = `${name}-weights`
  // Both are submitted before anything else, so that no training step comes between them.
  const [{ path }] = await Promise.all([
    session.numbered<{ path: string }>('/save_weights', { path: name }),
    session.numbered('/save_weights_for_sampler', { path: weights }),
  ])
  const remote: RemoteCheckpoint = { v: 1, url: wire.base, path, ...model }
  writeFileSync(join(folder, REMOTE_FILE), `${JSON.stringify(remote, null, 2)}\n`)
  const archive = `/training_runs/${session.modelId}/checkpoints/${weights}/archive`
  const { body } = await wire.open(archive, { timeoutMs: FILE_MS, accept: '*/*' })
  const files = await unpack(Readable.fromWeb(body as ReadableStream), folder)
  // A leftover copy wastes space but is not an error.
  await wire
    .json(`/training_runs/${session.modelId}/checkpoints/sampler_weights/${weights}`, { method: 'DELETE' })
    .catch(() => undefined)
  return [REMOTE_FILE, ...files]
}

export function isRemote(folder: string): boolean {
  return existsSync(join(currentFolder(resolve(folder)), REMOTE_FILE))
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
