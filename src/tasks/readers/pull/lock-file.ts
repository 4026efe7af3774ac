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
  /** `known`: compared with a checksum that coa brings. `first-use`: what came first is taken for right. */
  trust: z.enum(['known', 'first-use']),
})
export type PulledFile = z.infer<typeof PulledFile>

const PullLock = z.object({ v: z.literal(1), files: z.record(z.string(), PulledFile) })
type PullLock = z.infer<typeof PullLock>

const fileName = 'pulled.json'

/** What was pulled into a folder, so that a later pull can tell a changed file from the one that came first. */
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
    throw new StoreError(`${path} cannot be read: the checksums of earlier pulls are in it`, {
      fix: 'Restore it, or remove it to take the files that are there, or come next, for right.',
      cause,
    })
  }
}

export function writePullLock(folder: string, lock: PullLock): void {
  writeFileAtomic(join(folder, fileName), `${JSON.stringify(lock, null, 2)}\n`)
}
