import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { DownloadOptions } from '../../base/downloads/index.ts'
import { ToolError, UsageError } from '../../base/errors/index.ts'
import { ensureFolder, moveIntoPlace, writeFileAtomic } from '../../base/files/index.ts'
import { MANIFEST_FILE, manifestOf } from '../checkpoint/checkpoint-manifest.ts'
import {
  describeFile,
  type ElementType,
  parameterCount,
  readCheckpointHeaders,
  shapeFromConfig,
} from '../checkpoint/index.ts'
import { readJsonFile } from '../checkpoint/read-bytes.ts'
import { INDEX_FILE } from '../checkpoint/shards-read.ts'
import { json } from '../checkpoint/shards-write.ts'
import { importGguf } from '../model/import-gguf.ts'
import { withLockFile } from '../trainer/lock-file.ts'
import { existingPull } from './existing-pull.ts'
import { type FetchOptions, fetchAll } from './fetch-all.ts'
import type { FetchedFile } from './fetch-file.ts'
import { hubError } from './hub-errors.ts'
import { describingFiles, weightFiles } from './needed-files.ts'
import type { PulledModel } from './pulled-model.ts'
import { type ModelReference, resolveReference } from './reference.ts'
import { type HubFile, type Repository, readRepository } from './repository.ts'

export interface PullModelOptions extends FetchOptions {
  /** Default: the Hugging Face Hub. */
  endpoint?: string | undefined
  /** Default: models/NAME. */
  folder?: string | undefined
  /** ISO time. */
  createdAt: string
  /** For GGUF files: type of the stored weights (default: bfloat16). */
  elementType?: ElementType | undefined
  /** For GGUF files: keep an output head that is a copy of the embedding. */
  keepHead?: boolean | undefined
  /** For GGUF files: folder of a tokenizer to use instead of the one in the file. */
  tokenizer?: string | undefined
  onNote?: ((note: string) => void) | undefined
}

const HUB = 'https://huggingface.co'

/**
 * Downloads a model from the Hugging Face Hub, or a GGUF file from anywhere, and makes a model folder of it. What an interrupted pull left
 * is resumed; the folder appears when everything is complete and verified.
 *
 * @example
 * import { pullModel } from 'chain-of-agents/engine'
 *
 * const { folder, manifest } = await pullModel('qwen2.5-coder-0.5b', { createdAt: new Date().toISOString() })
 * console.log(folder, manifest.parameters)
 */
export async function pullModel(what: string, options: PullModelOptions): Promise<PulledModel> {
  const endpoint = (options.endpoint ?? HUB).replace(/\/+$/, '')
  if (!URL.canParse(endpoint)) {
    throw new UsageError(`HF_ENDPOINT is not a URL: ${endpoint}`, {
      fix: `Set it to a mirror's URL, or unset it for ${HUB}.`,
    })
  }
  const reference = resolveReference(what, endpoint)
  const folder = resolve(options.folder ?? join('models', reference.name))
  const access = { ...options, endpoint }
  if (reference.kind === 'file')
    return imported(reference.path, folder, options, { source: resolve(reference.path) })
  ensureFolder(dirname(folder))
  const partial = join(dirname(folder), `.${basename(folder)}.pull`)
  return withLockFile(
    `${partial}.lock`,
    () =>
      reference.kind === 'url'
        ? pullUrl(reference, folder, partial, access)
        : pullHub(reference, folder, partial, access),
    {
      onWait: () => options.onNote?.(`another process is pulling to ${folder}; waiting for it`),
      signal: options.signal,
    },
  )
}

type Access = PullModelOptions & { endpoint: string }

async function pullUrl(
  { url }: Extract<ModelReference, { kind: 'url' }>,
  folder: string,
  partial: string,
  access: Access,
): Promise<PulledModel> {
  const existing = existingPull(folder, url, undefined)
  if (existing !== undefined) return existing
  const file: HubFile = { name: basename(new URL(url).pathname), url, bytes: undefined, checksum: undefined }
  const refused = ({ status }: Response) =>
    new ToolError(`${new URL(url).host} answered with status ${status} to ${url}`, {
      fix: status >= 500 || status === 429 ? 'Try again later; the download will resume.' : 'Check the URL.',
      transient: status === 408 || status === 429 || status >= 500,
      details: { url, status },
    })
  // A token for the Hub is nobody else's business.
  const files = await fetchAll([file], partial, { ...access, token: undefined }, refused)
  return importedFrom(join(partial, file.name), folder, partial, access, { source: url, files })
}

async function pullHub(
  reference: Extract<ModelReference, { kind: 'hub' }>,
  folder: string,
  partial: string,
  access: Access,
): Promise<PulledModel> {
  const repository = await readRepository(reference, access)
  const { id, commit, license, files } = repository
  const source = reference.file === undefined ? id : `${id}/${reference.file}`
  const existing = existingPull(folder, source, commit)
  if (existing !== undefined) return existing
  const refused = (response: Response) => hubError(reference, response, access)
  const about = { source, revision: commit, ...(license === undefined ? {} : { license }) }
  if (reference.file !== undefined) {
    const file = files.get(reference.file)
    if (file === undefined) {
      throw new UsageError(`${id} has no file ${reference.file} at revision ${reference.revision}`, {
        fix: `Choose one from ${access.endpoint}/${id}/tree/${reference.revision}.`,
      })
    }
    const local = { ...file, name: basename(file.name) }
    const fetched = await fetchAll([local], partial, access, refused)
    return importedFrom(join(partial, local.name), folder, partial, access, { ...about, files: fetched })
  }
  const fetched = await fetchFolder(repository, partial, access, refused)
  const names = fetched.map(({ name }) => name).sort()
  // What an earlier attempt left of another revision.
  for (const name of readdirSync(partial))
    if (!names.includes(name)) rmSync(join(partial, name), { recursive: true, force: true })
  const { shape } = readCheckpointHeaders(partial)
  const described = names.map((name) => describeFile(partial, name))
  const manifest = manifestOf(folder, described, {
    stage: 'import',
    step: 0,
    createdAt: access.createdAt,
    parameters: parameterCount(shape),
    metadata: about,
  })
  writeFileAtomic(join(partial, MANIFEST_FILE), json(manifest))
  moveIntoPlace(partial, folder)
  return { folder, manifest, ...about, files: fetched, isNew: true }
}

/** The description first, so that an unsupported model is refused before its weights are downloaded. */
async function fetchFolder(
  repository: Repository,
  partial: string,
  access: Access,
  refused: DownloadOptions['refused'],
): Promise<FetchedFile[]> {
  const small = await fetchAll(describingFiles(repository, access.endpoint), partial, access, refused)
  shapeFromConfig(readJsonFile(join(partial, 'config.json')))
  const index = existsSync(join(partial, INDEX_FILE)) ? readJsonFile(join(partial, INDEX_FILE)) : undefined
  return [...small, ...(await fetchAll(weightFiles(repository, index), partial, access, refused))]
}

interface Origin {
  source: string
  revision?: string
  license?: string
}

function imported(file: string, folder: string, options: PullModelOptions, origin: Origin): PulledModel {
  const { createdAt, elementType, keepHead, tokenizer } = options
  const { manifest, types, tied } = importGguf(file, folder, {
    createdAt,
    origin: { ...origin },
    ...(elementType === undefined ? {} : { elementType }),
    ...(keepHead === undefined ? {} : { keepHead }),
    ...(tokenizer === undefined ? {} : { tokenizer }),
  })
  return { folder, manifest, ...origin, files: [], isNew: true, imported: { types, tied } }
}

/** The downloaded file has served its purpose once it is imported; until then it is kept, so that nothing is downloaded twice. */
function importedFrom(
  file: string,
  folder: string,
  partial: string,
  options: PullModelOptions,
  { files, ...origin }: Origin & { files: FetchedFile[] },
): PulledModel {
  const pulled = { ...imported(file, folder, options, origin), files }
  rmSync(partial, { recursive: true, force: true })
  return pulled
}
