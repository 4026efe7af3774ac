import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { StoreError } from '../../base/errors/index.ts'
import { sealJson, sealText } from '../../store/index.ts'
import type { StageName } from './decide.ts'

export interface KeptLine {
  id: string
  weight: number
  /** Of the record as it was when it was chosen. */
  digest: string
}

export interface DroppedLine {
  id: string
  stage: StageName
  reason: string
  detail: string
}

export function selectionFiles(runDir: string) {
  const folder = join(runDir, 'filter')
  return { folder, ...filesIn(folder) }
}

function filesIn(folder: string) {
  return {
    kept: join(folder, 'kept.jsonl'),
    dropped: join(folder, 'dropped.jsonl'),
    funnel: join(folder, 'funnel.json'),
    page: join(folder, 'funnel.html'),
  }
}

/** Written in a folder of its own that takes the old one's place when it is complete: a reader sees all or nothing. */
export class SelectionWriter {
  readonly #target: string
  readonly #folder: string
  readonly #files: ReturnType<typeof filesIn>
  readonly #kept: Lines
  readonly #dropped: Lines

  constructor(runDir: string) {
    this.#target = selectionFiles(runDir).folder
    this.#folder = temporary(this.#target)
    this.#files = filesIn(this.#folder)
    writing(this.#target, () => mkdirSync(this.#folder))
    this.#kept = new Lines(this.#files.kept)
    this.#dropped = new Lines(this.#files.dropped)
  }

  keep(line: KeptLine): void {
    this.#kept.add(line)
  }

  drop(line: DroppedLine): void {
    this.#dropped.add(line)
  }

  finish(funnel: object, page: string): void {
    this.#kept.close()
    this.#dropped.close()
    writing(this.#target, () => {
      writeFileSync(this.#files.funnel, sealJson(JSON.stringify(funnel, null, 2)), { flush: true })
      writeFileSync(this.#files.page, sealText(page, 'html'), { flush: true })
      // Killed between the two renames, there is no selection, and the next start makes it again.
      const old = temporary(this.#target)
      rename(this.#target, old)
      renameSync(this.#folder, this.#target)
      rmSync(old, { recursive: true, force: true })
    })
  }

  discard(): void {
    this.#kept.abandon()
    this.#dropped.abandon()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** The kind of name that openRun clears away when its maker is gone. */
function temporary(path: string): string {
  return `${path}.${hostname()}-${process.pid}-${randomBytes(6).toString('hex')}.tmp`
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Lines of JSON, written some thousand characters at a time. */
class Lines {
  readonly #path: string
  #fd: number | undefined
  #pending = ''

  constructor(path: string) {
    this.#path = path
    this.#fd = writing(path, () => openSync(path, 'w'))
  }

  add(line: object): void {
    this.#pending += sealJson(JSON.stringify(line))
    if (this.#pending.length > 64 * 1024) this.#flush()
  }

  close(): void {
    this.#flush()
    writing(this.#path, () => fsyncSync(this.#fd!))
    this.abandon()
  }

  abandon(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #flush(): void {
    writing(this.#path, () => writeFileSync(this.#fd!, this.#pending))
    this.#pending = ''
  }
}

function writing<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new StoreError(`cannot write the selection ${path}: ${(cause as Error).message}`, {
      fix: 'Check the free space and the rights of the run folder.',
      cause,
    })
  }
}
