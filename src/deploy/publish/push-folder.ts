import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Observe } from '../../base/progress/index.ts'
import { type HubAccount, hubRequest } from './hub-request.ts'
import { parsed, uploadLargeFiles } from './large-files.ts'
import type { LocalFile } from './local-files.ts'

export interface PushTarget {
  type: 'model' | 'dataset'
  /** USER/NAME. */
  repo: string
  isPrivate: boolean
  message: string
}

export interface Pushed {
  url: string
  /** Undefined if the repository already had all files. */
  commit: string | undefined
  uploaded: string[]
  unchanged: string[]
}

const REVISION = 'main'

const Existing = z.object({
  siblings: z.array(
    z.object({
      rfilename: z.string(),
      blobId: z.string().nullish(),
      lfs: z.object({ sha256: z.string() }).nullish(),
    }),
  ),
})
const Modes = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      uploadMode: z.enum(['lfs', 'regular']),
      shouldIgnore: z.boolean().optional(),
    }),
  ),
})
const Committed = z.object({ commitOid: z.string().optional(), commitUrl: z.string().optional() })

/**
 * Creates a repository if needed and commits the files that differ from what it has: large ones go to its storage first, so a
 * push that was interrupted continues with what is missing. The commit contains all of them or none.
 */
export async function pushFolder(
  files: readonly LocalFile[],
  { type, repo, isPrivate, message }: PushTarget,
  account: HubAccount,
  observe: Observe = () => {},
): Promise<Pushed> {
  const base = account.endpoint.replace(/\/+$/, '')
  const url = type === 'model' ? `${base}/${repo}` : `${base}/datasets/${repo}`
  const api = `${base}/api/${type}s/${repo}`
  await createRepository(base, { type, repo, isPrivate }, account)
  const known = await existingFiles(api, account)
  const isKnown = ({ name, sha256, blob }: LocalFile) =>
    known.get(name) === sha256 || known.get(name) === blob
  const unchanged = files.filter(isKnown).map(({ name }) => name)
  const changed = files.filter((file) => !isKnown(file))
  if (changed.length === 0) return { url, commit: undefined, uploaded: [], unchanged }
  const modes = await uploadModes(api, changed, account)
  const wanted = changed.filter(({ name }) => modes.get(name) !== undefined)
  const large = wanted.filter(({ name }) => modes.get(name) === 'lfs')
  let done = 0
  const total = large.length
  await uploadLargeFiles(large, { url, revision: REVISION }, account, () => {
    observe({ stage: 'upload', done: ++done, total, unit: 'files' })
  })
  const lines = [
    { key: 'header', value: { summary: message, description: '' } },
    ...wanted.map((file) => commitLine(file, modes.get(file.name)!)),
  ]
  const response = await hubRequest(
    {
      url: `${api}/commit/${REVISION}`,
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      purpose: `commit to ${repo}`,
      body: () => lines.map((line) => JSON.stringify(line)).join('\n'),
    },
    account,
  )
  const { commitOid } = parsed(Committed, await response.json(), `commit to ${repo}`)
  return { url, commit: commitOid ?? 'unknown', uploaded: wanted.map(({ name }) => name), unchanged }
}

async function createRepository(
  base: string,
  { type, repo, isPrivate }: Omit<PushTarget, 'message'>,
  account: HubAccount,
): Promise<void> {
  const [organization, name] = repo.split('/')
  await hubRequest(
    {
      url: `${base}/api/repos/create`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      purpose: `create ${repo}`,
      body: () => JSON.stringify({ type, name, organization, private: isPrivate }),
      // It exists.
      accepts: [409],
    },
    account,
  )
}

/** SHA-256 of large files, git's checksum of the others. */
async function existingFiles(api: string, account: HubAccount): Promise<Map<string, string>> {
  const response = await hubRequest(
    { url: `${api}/revision/${REVISION}?blobs=true`, purpose: 'list the files', accepts: [404] },
    account,
  )
  if (response.status === 404) return new Map()
  const { siblings } = parsed(Existing, await response.json(), 'list the files')
  return new Map(siblings.map(({ rfilename, blobId, lfs }) => [rfilename, lfs?.sha256 ?? blobId ?? '']))
}

/** Asks which files go to large-file storage. Files that the repository ignores are left out. */
async function uploadModes(
  api: string,
  files: readonly LocalFile[],
  account: HubAccount,
): Promise<Map<string, 'lfs' | 'regular'>> {
  const response = await hubRequest(
    {
      url: `${api}/preupload/${REVISION}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      purpose: 'prepare the upload',
      body: () =>
        JSON.stringify({
          files: files.map(({ name, path, bytes }) => ({
            path: name,
            size: bytes,
            sample: readFileSync(path).subarray(0, 512).toString('base64'),
          })),
        }),
    },
    account,
  )
  const { files: found } = parsed(Modes, await response.json(), 'prepare the upload')
  return new Map(found.flatMap((file) => (file.shouldIgnore === true ? [] : [[file.path, file.uploadMode]])))
}

function commitLine({ name, path, bytes, sha256 }: LocalFile, mode: 'lfs' | 'regular'): object {
  if (mode === 'lfs')
    return { key: 'lfsFile', value: { path: name, algo: 'sha256', size: bytes, oid: sha256 } }
  return {
    key: 'file',
    value: { path: name, encoding: 'base64', content: readFileSync(path).toString('base64') },
  }
}
