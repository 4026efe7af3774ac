import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '../../base/errors/index.ts'
import { LineWriter, swapFolder, temporaryPath } from '../../base/files/index.ts'
import type { Selection } from '../../schema/index.ts'
import { parseCheckedJson, type Run, withJsonChecksum, withTextChecksum } from '../../store/index.ts'
import { Funnel } from './funnel.ts'
import type { StageName } from './stage-names.ts'

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

/** Writes to a temporary folder that replaces the old one when complete: a reader sees all or nothing. */
export class SelectionWriter {
  readonly #target: string
  readonly #folder: string
  readonly #files: ReturnType<typeof filesIn>
  readonly #kept: LineWriter
  readonly #dropped: LineWriter

  constructor(runDir: string) {
    this.#target = selectionFiles(runDir).folder
    this.#folder = temporaryPath(this.#target)
    this.#files = filesIn(this.#folder)
    writing(this.#target, () => mkdirSync(this.#folder))
    this.#kept = writing(this.#target, () => new LineWriter(this.#files.kept))
    this.#dropped = writing(this.#target, () => new LineWriter(this.#files.dropped))
  }

  keep(line: Omit<Selection, 'v'>): void {
    this.#add(this.#kept, { v: 1, ...line } satisfies Selection)
  }

  drop(line: DroppedLine): void {
    this.#add(this.#dropped, line)
  }

  finish(funnel: object, page: string): void {
    writing(this.#target, () => {
      this.#kept.finish()
      this.#dropped.finish()
      writeFileSync(this.#files.funnel, withJsonChecksum(JSON.stringify(funnel, null, 2)), { flush: true })
      writeFileSync(this.#files.page, withTextChecksum(page, 'html'), { flush: true })
      // If killed between the two renames, there is no selection, and the next start makes it again.
      swapFolder(this.#folder, this.#target, temporaryPath(this.#target))
    })
  }

  discard(): void {
    this.#kept.abandon()
    this.#dropped.abandon()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #add(lines: LineWriter, line: object): void {
    writing(this.#target, () => lines.write(withJsonChecksum(JSON.stringify(line))))
  }
}

function writing<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new StoreError(`cannot write the selection ${path}: ${(cause as Error).message}`, {
      fix: 'Check the free space and the permissions of the run folder.',
      cause,
    })
  }
}

/**
 * The filter's own report: how many sequences each step kept, and why the others were dropped. Undefined if the run has not been
 * filtered or the report cannot be read.
 *
 * @example
 * import { openRun, readFunnel } from 'chain-of-agents'
 *
 * using run = openRun('runs/my-run')
 * for (const { reason, count } of readFunnel(run)?.reasons ?? []) console.log(count, reason)
 */
export function readFunnel(run: Pick<Run, 'dir'>): Funnel | undefined {
  try {
    const { funnel } = selectionFiles(run.dir)
    return Funnel.safeParse(parseCheckedJson(readFileSync(funnel), funnel, 'Filter the run again.')).data
  } catch {
    return undefined
  }
}
