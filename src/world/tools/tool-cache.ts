import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256 } from '../../base/digests/index.ts'
import { writeFileAtomic } from '../../base/files/index.ts'
import { parseJson } from '../../schema/index.ts'
import type { OutputStore, ToolOutput } from './contract.ts'

interface Kept extends ToolOutput {
  savedAt: number
}

/**
 * A disk cache with one file per output, shared by any number of processes without a lock: a file appears completely
 * or not at all, and two writers of one key write the same content.
 */
export class ToolCache implements OutputStore {
  readonly #folder: string
  readonly #maxAgeMs: number

  constructor(folder: string, options: { maxAgeMs?: number } = {}) {
    this.#folder = folder
    this.#maxAgeMs = options.maxAgeMs ?? Number.POSITIVE_INFINITY
  }

  get(tool: string, key: unknown): ToolOutput | undefined {
    try {
      const kept = parseJson(readFileSync(this.#file(tool, key), 'utf8')) as Kept
      if (typeof kept.text !== 'string' || Date.now() - kept.savedAt > this.#maxAgeMs) return undefined
      return { text: kept.text, ...(kept.provenance === undefined ? {} : { provenance: kept.provenance }) }
    } catch {
      return undefined
    }
  }

  /** A cache that cannot be written to costs time, not the run. */
  set(tool: string, key: unknown, output: ToolOutput): void {
    const file = this.#file(tool, key)
    try {
      mkdirSync(dirname(file), { recursive: true })
      const kept: Kept = { ...output, savedAt: Date.now() }
      writeFileAtomic(file, JSON.stringify(kept), { durable: false })
    } catch {}
  }

  #file(tool: string, key: unknown): string {
    const hash = sha256(JSON.stringify([tool, sorted(key)]))
    // An external name must not lead out of the folder; the hash distinguishes similar ones.
    return join(this.#folder, tool.replaceAll(/[^\w-]/g, '_'), hash.slice(0, 2), `${hash}.json`)
  }
}

/** Sorts object keys, so that equal keys have equal hashes. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}
