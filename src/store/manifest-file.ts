import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { z } from 'zod'
import { StoreError } from '../base/errors/index.ts'
import { writeFileAtomic } from '../base/files/index.ts'
import { RunManifest } from '../schema/index.ts'
import { CHECKSUM_FIELD, parseCheckedJson, withJsonChecksum } from './checksum.ts'

type StageEntry = RunManifest['stages'][string]

/** A stage's status update; missing times are filled in. */
export interface StageUpdate {
  status: StageEntry['status']
  startedAt?: string
  endedAt?: string
  summary?: StageEntry['summary']
}

export function readManifest(path: string): RunManifest {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    throw new StoreError(`${dirname(path)} is not a run folder: it has no readable ${basename(path)}`, {
      fix: 'Specify a run folder, such as runs/<id>; `coa run list` lists them.',
      cause,
    })
  }
  try {
    const fix = `Restore it from a backup, or remove its last field, "${CHECKSUM_FIELD}", to accept it as it is.`
    return RunManifest.parse(parseCheckedJson(bytes, path, fix))
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    const reason =
      cause instanceof z.ZodError ? z.prettifyError(cause).replaceAll(/\s+/g, ' ') : String(cause)
    throw new StoreError(`${path} is damaged: ${reason}`, {
      fix: 'Restore the file from a backup; the records in events.jsonl are not affected.',
      cause,
    })
  }
}

export function writeManifest(path: string, manifest: RunManifest): void {
  try {
    writeFileAtomic(path, withJsonChecksum(JSON.stringify(manifest, null, 2)))
  } catch (cause) {
    throw new StoreError(`cannot write ${path}: ${(cause as Error).message}`, {
      fix: 'Check the free space and the permissions of the folder.',
      cause,
    })
  }
}

/** Returns the manifest with one stage started, ended or updated. A restarted stage loses its earlier end time. */
export function withStage(manifest: RunManifest, name: string, update: StageUpdate): RunManifest {
  const now = new Date().toISOString()
  const before = Object.hasOwn(manifest.stages, name) ? manifest.stages[name] : undefined
  const running = update.status === 'running'
  const started = before?.status === 'running' || !running ? before?.startedAt : undefined
  const endedAt = update.endedAt ?? (running ? undefined : now)
  const stage = {
    status: update.status,
    startedAt: update.startedAt ?? started ?? now,
    ...(endedAt === undefined ? {} : { endedAt }),
    summary: update.summary ?? (before?.status === 'running' ? before.summary : {}),
  }
  const result = RunManifest.safeParse({ ...manifest, stages: { ...manifest.stages, [name]: stage } })
  if (result.success) return result.data
  throw new StoreError(`stage ${name} is not valid in the manifest: ${result.error.issues[0]?.message}`, {
    fix: 'Provide a status, ISO times and a summary of plain JSON values.',
    cause: result.error,
  })
}
