import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { StoreError } from '../../../base/errors/index.ts'
import { writeFileAtomic } from '../../../base/files/index.ts'
import { parseJson } from '../../../schema/index.ts'

const PulledFile = z.object({
  url: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  pulledAt: z.string(),
  /** `known`: verified against a checksum built into coa. `first-use`: the first download is trusted. */
  trust: z.enum(['known', 'first-use']),
})
export type PulledFile = z.infer<typeof PulledFile>

const PullLock = z.object({ v: z.literal(1), files: z.record(z.string(), PulledFile) })
type PullLock = z.infer<typeof PullLock>

const fileName = 'pulled.json'

/** The checksums of files pulled into a folder, so that later pulls can detect changed files. */
export function readPullLock(folder: string): PullLock {
  const path = join(folder, fileName)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { v: 1, files: {} }
    throw error
  }
  try {
    return PullLock.parse(parseJson(text))
  } catch (cause) {
    throw new StoreError(`cannot read ${path}, which has the checksums of earlier pulls`, {
      fix: 'Restore it, or delete it to trust the existing files and the next downloads.',
      cause,
    })
  }
}

export function writePullLock(folder: string, lock: PullLock): void {
  writeFileAtomic(join(folder, fileName), `${JSON.stringify(lock, null, 2)}\n`)
}
