import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../../../base/digests/index.ts'
import { redact } from '../../../base/errors/index.ts'
import { parseJson } from '../../../schema/index.ts'

/** How an exchange of request and response ended. */
export type Ending = 'complete' | 'client gone' | 'upstream gone' | 'unreachable'

/** One line of a journal. Bodies are stored as they arrive, in parts. */
export type Entry = { at: number } & (
  | { entry: 'run'; id: string }
  | {
      entry: 'request'
      exchange: number
      agent: string
      api: string
      /** Absent if it matches an --exclude pattern. */
      body?: string
      /** The exchange that this one repeats after a failure. */
      retryOf?: number
    }
  | { entry: 'response'; exchange: number; status: number; streamed: boolean }
  | { entry: 'body'; exchange: number; text: string }
  | { entry: 'end'; exchange: number; ending: Ending; excluded?: boolean }
  | ({ entry: 'result' } & RunResult)
  /** The run was written as a trajectory. */
  | { entry: 'recorded' }
)

/** What an app says about its run when it ends it. */
export interface RunResult {
  answer?: string
  gold?: string[]
  reward?: number
}

/**
 * The journal of one run: every line is in the file before `add` returns, so whatever arrived survives the process. The file
 * is open only while an exchange is in progress, because there may be thousands of runs.
 */
export class Journal {
  readonly file: string
  #descriptor: number | undefined
  #holders = 0
  /** The last line is not complete. */
  #torn = false

  constructor(folder: string, run: string) {
    mkdirSync(folder, { recursive: true })
    this.file = join(folder, `${fileNameOf(run)}.jsonl`)
    const text = existsSync(this.file) ? readFileSync(this.file, 'utf8') : ''
    this.#torn = text !== '' && !text.endsWith('\n')
    // On a full disk, not even the first line may have been written.
    if (!entriesIn(text).some(({ entry }) => entry === 'run'))
      this.add({ at: Date.now(), entry: 'run', id: run })
  }

  add(entry: Entry): void {
    this.#write(`${redact(JSON.stringify(entry))}\n`)
  }

  hold(): void {
    this.#holders++
  }

  release(): void {
    if (--this.#holders > 0 || this.#descriptor === undefined) return
    closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  entries(): Entry[] {
    return readJournal(this.file)
  }

  #write(line: string): void {
    const bytes = Buffer.from(this.#torn ? `\n${line}` : line)
    const descriptor = this.#descriptor ?? openSync(this.file, 'a')
    try {
      this.#torn = true
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done)
      this.#torn = false
    } finally {
      if (this.#holders > 0) this.#descriptor = descriptor
      else closeSync(descriptor)
    }
  }
}

const readJournal = (file: string): Entry[] => entriesIn(readFileSync(file, 'utf8'))

/** The lines of a journal. One that a kill left incomplete is skipped. */
function entriesIn(text: string): Entry[] {
  return text.split('\n').flatMap((line) => {
    if (line === '') return []
    try {
      return [parseJson(line) as Entry]
    } catch {
      return []
    }
  })
}

/** The ids of the runs in a folder whose journals have more than their last trajectory. */
export function unfinishedRuns(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => {
      const entries = readJournal(join(folder, name))
      const id = entries.find((entry) => entry.entry === 'run')?.id
      return id !== undefined && entries.at(-1)?.entry !== 'recorded' ? [id] : []
    })
}

/** The id itself if it is a plain name on every file system, otherwise one that cannot be mistaken for another's. */
function fileNameOf(id: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,79}$/.test(id)) return id
  const plain = id.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 40)
  return `${plain}.${digestOf(id)}`
}
