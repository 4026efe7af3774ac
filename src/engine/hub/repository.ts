import { z } from 'zod'
import { type CoaError, ToolError } from '../../base/errors/index.ts'
import { backOff, pause } from '../../base/retry/index.ts'
import { hubError } from './hub-errors.ts'
import type { ModelReference } from './reference.ts'

export interface HubAccess {
  /** The Hub's URL, or a mirror's. */
  endpoint: string
  /** Sent only to the endpoint's own host. */
  token?: string | undefined
  fetch?: typeof globalThis.fetch | undefined
  signal?: AbortSignal | undefined
  attempts?: number | undefined
  backOffMs?: number | undefined
}

export interface HubFile {
  name: string
  url: string
  bytes: number | undefined
  /** SHA-256 for large files; for the others, git's SHA-1 of the blob. */
  checksum: { kind: 'sha256' | 'git'; value: string } | undefined
}

export interface Repository {
  id: string
  /** The commit that the revision was at. */
  commit: string
  license: string | undefined
  files: Map<string, HubFile>
}

type HubReference = Extract<ModelReference, { kind: 'hub' }>

const Sibling = z.object({
  rfilename: z.string(),
  size: z.number().int().nonnegative().nullish(),
  blobId: z.string().nullish(),
  lfs: z
    .object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), size: z.number().int().nonnegative() })
    .nullish(),
})
const Info = z.object({
  id: z.string().optional(),
  sha: z.string().regex(/^[0-9a-f]{40,64}$/),
  siblings: z.array(Sibling),
  cardData: z.object({ license: z.unknown().optional() }).nullish(),
})

/** The files of a model on the Hub, with their sizes and checksums, all at one commit. */
export async function readRepository(reference: HubReference, access: HubAccess): Promise<Repository> {
  const { id, revision, known } = reference
  const base = access.endpoint.replace(/\/+$/, '')
  const url = `${base}/api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`
  const parsed = Info.safeParse(await fetchJson(url, reference, access))
  if (!parsed.success) {
    throw new ToolError(`${new URL(base).host} does not describe ${id} the way the Hugging Face Hub does`, {
      fix: 'Check HF_ENDPOINT: it must be the URL of the Hub or of a mirror.',
      details: { url, issue: parsed.error.issues[0]?.message },
    })
  }
  const { sha, siblings, cardData } = parsed.data
  const license = typeof cardData?.license === 'string' ? cardData.license : known?.license
  const files = siblings.map(({ rfilename: name, size, blobId, lfs }): HubFile => {
    const path = name.split('/').map(encodeURIComponent).join('/')
    const checksum =
      lfs != null
        ? ({ kind: 'sha256', value: lfs.sha256 } as const)
        : /^[0-9a-f]{40}$/.test(blobId ?? '')
          ? ({ kind: 'git', value: blobId! } as const)
          : undefined
    return {
      name,
      url: `${base}/${id}/resolve/${sha}/${path}`,
      bytes: lfs?.size ?? size ?? undefined,
      checksum,
    }
  })
  return { id, commit: sha, license, files: new Map(files.map((file) => [file.name, file])) }
}

async function fetchJson(url: string, reference: HubReference, access: HubAccess): Promise<unknown> {
  const { attempts = 5, backOffMs = 1_000, signal, token } = access
  const headers: Record<string, string> = { 'user-agent': 'chain-of-agents' }
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  for (let failures = 1; ; failures++) {
    const result = await attempt()
    if (!(result instanceof Error)) return result
    if (failures >= attempts || !(result instanceof ToolError && result.transient)) throw result
    await pause(backOff(failures - 1, backOffMs, 30_000), signal)
  }

  async function attempt(): Promise<unknown> {
    try {
      const timeout = AbortSignal.timeout(60_000)
      const response = await (access.fetch ?? fetch)(url, {
        headers,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      })
      if (!response.ok) return hubError(reference, response, access)
      return await response.json()
    } catch (cause) {
      signal?.throwIfAborted()
      return unreachable(url, cause)
    }
  }
}

function unreachable(url: string, cause: unknown): CoaError {
  const { message, cause: deeper } = cause as Error
  const reason = deeper instanceof Error && deeper.message !== '' ? deeper.message : message
  return new ToolError(`cannot reach ${new URL(url).host}: ${reason}`, {
    fix: 'Check the connection; HF_ENDPOINT=URL uses a mirror. A .gguf file on disk works without any.',
    transient: true,
    cause,
  })
}
