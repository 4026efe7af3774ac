import { basename } from 'node:path'
import type { z } from 'zod'
import type { Checkpoint } from '../../schema/index.ts'
import { type CheckpointFile, CheckpointManifest, fingerprintOf, withDigest } from './checkpoint-manifest.ts'
import { EngineError } from './engine-error.ts'

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
