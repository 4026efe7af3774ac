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
  /** The first number whose answer has not been seen. */
  nextSeq: z.number().int().positive(),
})
export type SavedSession = z.infer<typeof Saved>

/**
 * What a client that comes back needs to go on: which model it was, and the number of the first request whose answer it
 * has not seen. Asked again under the same number, the server does not do it a second time.
 */
export class SessionState {
  readonly #path: string
  readonly #saved: SavedSession
  readonly #open = new Set<number>()
  #begun: number

  constructor(path: string, saved: SavedSession) {
    this.#path = path
    this.#saved = saved
    this.#begun = saved.nextSeq - 1
    this.#write()
  }

  begin(seq: number): void {
    this.#open.add(seq)
    this.#begun = Math.max(this.#begun, seq)
  }

  end(seq: number): void {
    this.#open.delete(seq)
    const first = this.#open.size === 0 ? this.#begun + 1 : Math.min(...this.#open)
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
    throw new EngineError(`${path} cannot be read as the state of a session.`, {
      fix: 'Remove it and open the engine from the last checkpoint.',
      cause,
    })
  }
}
