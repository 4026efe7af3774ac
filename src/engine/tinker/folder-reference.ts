import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../base/digests/index.ts'
import type { Wire } from './wire.ts'
import { statusOf } from './wire-errors.ts'

/**
 * The trainer's name for a folder that it can use in place, because it runs on this machine for the same user; otherwise
 * undefined. Each side proves to the other that it sees this folder: we put a random token there and send its hash, and the
 * trainer answers with the token.
 */
export async function referTo(wire: Wire, folder: string): Promise<string | undefined> {
  const { hostname } = new URL(wire.base)
  if (hostname !== 'localhost' && hostname !== '[::1]' && !hostname.startsWith('127.')) return undefined
  const token = randomBytes(32).toString('hex')
  const proof = join(folder, `.coa-proof-${randomBytes(16).toString('hex')}`)
  try {
    writeFileSync(proof, token, { mode: 0o600, flag: 'wx' })
  } catch {
    // A folder that we cannot write to is uploaded.
    return undefined
  }
  try {
    const body = { proof, sha256: sha256(token) }
    const answer = await wire.json<{ folder: string; token: string }>('/coa/folders', { body })
    return answer.token === token ? answer.folder : undefined
  } catch (cause) {
    // It sees another file system, belongs to another user, or is an older version.
    if (statusOf(cause) === undefined) throw cause
    return undefined
  } finally {
    rmSync(proof, { force: true })
  }
}
