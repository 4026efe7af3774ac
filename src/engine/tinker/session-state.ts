import { existsSync, readFileSync, rmSync } from 'node:fs'
import { z } from 'zod'
import { writeFileAtomic } from '../../base/files/index.ts'
import { EngineError } from '../checkpoint/index.ts'

const Saved = z.object({
  v: z.literal(1),
  url: z.string(),
  sessionId: z.string(),
  modelId: z.string(),
  baseModel: z.string(),
  /** The first sequence number whose result has not been received. */
  nextSeq: z.number().int().positive(),
})
export type SavedSession = z.infer<typeof Saved>

/**
 * What a restarted client needs to resume: its model, and the sequence number of the first request without a result.
 * Repeated with the same number, the server does not run it again.
 */
export class SessionState {
  readonly #path: string
  readonly #saved: SavedSession
  readonly #open = new Set<number>()
  #started: number

  constructor(path: string, saved: SavedSession) {
    this.#path = path
    this.#saved = saved
    this.#started = saved.nextSeq - 1
    this.#write()
  }

  begin(seq: number): void {
    this.#open.add(seq)
    this.#started = Math.max(this.#started, seq)
  }

  end(seq: number): void {
    this.#open.delete(seq)
    const first = this.#open.size === 0 ? this.#started + 1 : Math.min(...this.#open)
    if (first === this.#saved.nextSeq) return
    this.#saved.nextSeq = first
    this.#write()
  }

  remove(): void {
    rmSync(this.#path, { force: true })
  }

  #write(): void {
    writeFileAtomic(this.#path, `${JSON.stringify(this.#saved)}\n`, { mode: 0o600, durable: false })
  }
}

export function readSessionState(path: string): SavedSession | undefined {
  if (!existsSync(path)) return undefined
  try {
    return Saved.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new EngineError(`${path} is not a valid session state file.`, {
      fix: 'Delete it and open the engine from the last checkpoint.',
      cause,
    })
  }
}
