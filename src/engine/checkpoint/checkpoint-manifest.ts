import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../../base/digests/index.ts'
import { Checkpoint } from '../../schema/index.ts'
import { EngineError } from './engine-error.ts'
import { readFully, readJsonFile, withFile } from './read-bytes.ts'
import { isPlainName } from './shards-read.ts'

export const MANIFEST_FILE = 'coa-checkpoint.json'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** coa-checkpoint.json: the Checkpoint record, plus checksums and lineage. */
export const CheckpointManifest = Checkpoint.extend({
  createdAt: z.iso.datetime(),
  /** File names directly inside the folder; never a path that leads out of it. */
  files: z.array(
    z.object({ path: z.string().refine(isPlainName), sha256: Sha256, bytes: z.number().int().nonnegative() }),
  ),
  /** Number of parameters. */
  parameters: z.number().int().nonnegative(),
  /** Hash of the file list: folders with the same contents have the same fingerprint. */
  fingerprint: Sha256,
  parentFingerprint: Sha256.optional(),
  parentPath: z.string().optional(),
  metadata: z.record(z.string(), z.json()).default({}),
  /** Hash of all of the above as JSON. Manifests written by older versions of coa have none. */
  digest: Sha256.optional(),
}).strict()
export type CheckpointManifest = z.infer<typeof CheckpointManifest>
export type CheckpointFile = CheckpointManifest['files'][number]

/** The manifest of a checkpoint; undefined for a model folder written by other software. */
export function readManifest(folder: string): CheckpointManifest | undefined {
  const path = join(folder, MANIFEST_FILE)
  if (!existsSync(path)) return undefined
  const value = readJsonFile(path)
  const parsed = CheckpointManifest.safeParse(value)
  const issue = parsed.error?.issues[0]
  const isChanged =
    parsed.data?.digest !== undefined && parsed.data.digest !== manifestDigest(value as object)
  if (parsed.success && !isChanged) return parsed.data
  const reason =
    issue === undefined ? 'its digest does not match' : `${issue.path.join('.')}: ${issue.message}`
  throw new EngineError(`${path} is damaged: ${reason}`, {
    fix: 'Restore it from a backup, or delete it to use the folder as a plain model.',
    details: { path },
    cause: parsed.error,
  })
}

/** Manifest fields other than the files. */
export interface DescribedContents {
  /** Default: the start of the fingerprint. */
  id?: string
  /** The folder, relative to the run. Default: its name. */
  path?: string
  stage: Checkpoint['stage']
  step: number
  /** ISO time, given by the caller. */
  createdAt: string
  parent?: { id?: string; fingerprint?: string; path?: string }
  metrics?: Record<string, number>
  metadata?: CheckpointManifest['metadata']
}

/** The manifest of files that will become the checkpoint `folder`. */
export function manifestOf(
  folder: string,
  files: CheckpointFile[],
  contents: DescribedContents & { parameters: number },
): CheckpointManifest {
  const fingerprint = fingerprintOf(files)
  const { parent } = contents
  const manifest: z.input<typeof CheckpointManifest> = {
    v: 1,
    id: contents.id ?? fingerprint.slice(0, 16),
    path: contents.path ?? basename(folder),
    stage: contents.stage,
    step: contents.step,
    parent: parent?.id,
    createdAt: contents.createdAt,
    parameters: contents.parameters,
    fingerprint,
    parentFingerprint: parent?.fingerprint,
    parentPath: parent?.path,
    files,
    metrics: contents.metrics,
    metadata: contents.metadata,
  }
  const parsed = CheckpointManifest.safeParse(JSON.parse(JSON.stringify(manifest)))
  if (parsed.success) return withDigest(parsed.data)
  const issue = parsed.error.issues[0]
  throw new EngineError(`invalid checkpoint metadata: ${issue?.path.join('.')}: ${issue?.message}`, {
    fix: 'Use an ISO time, an integer step, and plain JSON values for metrics and metadata.',
    cause: parsed.error,
  })
}

function withDigest(manifest: CheckpointManifest): CheckpointManifest {
  return { ...manifest, digest: manifestDigest(manifest) }
}

function manifestDigest(manifest: object): string {
  return sha256(JSON.stringify({ ...manifest, digest: undefined }))
}

export function describeFile(folder: string, path: string): CheckpointFile {
  return withFile(join(folder, path), (file, bytes) => {
    const digest = createHash('sha256')
    const buffer = new Uint8Array(Math.min(bytes, 1 << 22))
    for (let done = 0; done < bytes; done += buffer.length) {
      const part = buffer.subarray(0, Math.min(buffer.length, bytes - done))
      readFully(file, part, done)
      digest.update(part)
    }
    return { path, sha256: digest.digest('hex'), bytes }
  })
}

/** The hash of the `sha256sum` output for the files, sorted by name. */
export function fingerprintOf(files: readonly CheckpointFile[]): string {
  const lines = files.map(({ path, sha256: digest }) => `${digest}  ${path}\n`)
  return sha256(lines.sort(byName).join(''))
}

function byName(one: string, other: string): number {
  return one.slice(66) < other.slice(66) ? -1 : 1
}
