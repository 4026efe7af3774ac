import { openAsBlob } from 'node:fs'
import { z } from 'zod'
import { ToolError } from '../../base/errors/index.ts'
import { type HubAccount, hubRequest } from './hub-request.ts'
import type { LocalFile } from './local-files.ts'

const lfs = { accept: 'application/vnd.git-lfs+json', 'content-type': 'application/vnd.git-lfs+json' }

const Action = z.object({ href: z.url(), header: z.record(z.string(), z.string()).default({}) })
const Batch = z.object({
  objects: z.array(
    z.object({
      oid: z.string(),
      error: z.object({ message: z.string() }).optional(),
      /** Absent if the storage already has the object. */
      actions: z.object({ upload: Action.optional(), verify: Action.optional() }).optional(),
    }),
  ),
})

/** The Hub takes at most this many objects per request. */
const BATCH = 100

/** Uploads files to the repository's large-file storage, except those that it already has. */
export async function uploadLargeFiles(
  files: readonly LocalFile[],
  repository: { url: string; revision: string },
  account: HubAccount,
  onUploaded: (file: LocalFile) => void,
): Promise<void> {
  for (let from = 0; from < files.length; from += BATCH) {
    const some = files.slice(from, from + BATCH)
    const response = await hubRequest(
      {
        url: `${repository.url}.git/info/lfs/objects/batch`,
        method: 'POST',
        headers: lfs,
        purpose: 'upload files',
        body: () =>
          JSON.stringify({
            operation: 'upload',
            transfers: ['basic', 'multipart'],
            hash_algo: 'sha256',
            ref: { name: repository.revision },
            objects: some.map(({ sha256, bytes }) => ({ oid: sha256, size: bytes })),
          }),
      },
      account,
    )
    const { objects } = parsed(Batch, await response.json(), 'upload files')
    for (const file of some) {
      const found = objects.find(({ oid }) => oid === file.sha256)
      if (found?.error !== undefined)
        throw new ToolError(`${file.name} was refused: ${found.error.message}`, {
          fix: 'Check the storage limits of the account that the token belongs to.',
        })
      if (found?.actions?.upload !== undefined) await upload(file, found.actions.upload, account)
      if (found?.actions?.verify !== undefined) await verify(file, found.actions.verify, account)
      onUploaded(file)
    }
  }
}

async function upload(
  file: LocalFile,
  { href, header }: z.infer<typeof Action>,
  account: HubAccount,
): Promise<void> {
  const blob = await openAsBlob(file.path)
  const { chunk_size: chunkSize, ...others } = header
  const purpose = `upload ${file.name}`
  if (chunkSize === undefined) {
    await hubRequest({ url: href, method: 'PUT', headers: others, purpose, body: () => blob }, account)
    return
  }
  const size = Number(chunkSize)
  const parts = Object.keys(others)
    .filter((name) => /^\d+$/.test(name))
    .sort((one, other) => Number(one) - Number(other))
  if (parts.length !== Math.ceil(file.bytes / size)) throw surprising(purpose)
  const done: { partNumber: number; etag: string }[] = []
  for (const [index, part] of parts.entries()) {
    const body = () => blob.slice(index * size, (index + 1) * size)
    const response = await hubRequest({ url: others[part]!, method: 'PUT', purpose, body }, account)
    const etag = response.headers.get('etag')
    if (etag === null) throw surprising(purpose)
    done.push({ partNumber: Number(part), etag })
  }
  const body = () => JSON.stringify({ oid: file.sha256, parts: done })
  await hubRequest({ url: href, method: 'POST', headers: lfs, purpose, body }, account)
}

async function verify(
  file: LocalFile,
  { href, header }: z.infer<typeof Action>,
  account: HubAccount,
): Promise<void> {
  const body = () => JSON.stringify({ oid: file.sha256, size: file.bytes })
  const purpose = `verify ${file.name}`
  await hubRequest({ url: href, method: 'POST', headers: { ...lfs, ...header }, purpose, body }, account)
}

/** The answer of a server, as the protocol has it. */
export function parsed<T extends z.ZodType>(schema: T, value: unknown, purpose: string): z.infer<T> {
  const result = schema.safeParse(value)
  if (!result.success) throw surprising(purpose)
  return result.data
}

function surprising(purpose: string): ToolError {
  return new ToolError(`the server's answer to a request to ${purpose} does not follow the Hub's protocol`, {
    fix: 'Check HF_ENDPOINT: it must be the URL of the Hugging Face Hub or of a compatible server.',
  })
}
