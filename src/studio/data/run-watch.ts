import { statSync } from 'node:fs'
import { parseJson } from '../../schema/index.ts'
import { type MetricRow, runFiles } from '../../store/index.ts'
import type { LiveChange } from '../api.ts'
import { latestRollouts } from './lists.ts'
import type { OpenRuns } from './open-runs.ts'
import { isOwn } from './run-folder.ts'
import { type JobsByRun, linesFrom, runRow } from './runs.ts'

/** Rollouts shown as they arrive; the others are only counted. */
const MOST_ROLLOUTS = 20

/** What changes in a run that another process writes. */
export class RunWatch {
  readonly #open: OpenRuns
  readonly #id: string
  #counts: Record<string, number>
  #lastSeq: number
  #metrics: number
  #log: number
  #state = ''
  #wasIndexing = false

  constructor(open: OpenRuns, id: string) {
    this.#open = open
    this.#id = id
    const { index, run } = open.get(id)
    this.#counts = index.counts()
    this.#lastSeq = index.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM rollout')?.seq ?? 0
    const files = runFiles(run.dir)
    this.#metrics = sizeOf(files.metrics)
    this.#log = sizeOf(files.log)
    this.#state = this.#stateNow()
  }

  poll(jobs: JobsByRun): LiveChange[] {
    return [...this.#run(jobs), ...this.#records(), ...this.#rows(), ...this.#lines()]
  }

  #run(jobs: JobsByRun): LiveChange[] {
    const state = this.#stateNow()
    if (state === this.#state) return []
    this.#state = state
    return [{ type: 'run', run: runRow(this.#open, this.#id, jobs) }]
  }

  /** Changes with the status of a stage, and when a writer comes or goes. */
  #stateNow(): string {
    const { manifest, lock } = runFiles(this.#open.dirOf(this.#id))
    const time = statSync(manifest, { throwIfNoEntry: false })?.mtimeMs
    return `${time} ${isOwn(lock, 'file')}`
  }

  #records(): LiveChange[] {
    const { index } = this.#open.get(this.#id)
    const counts = index.counts()
    const added = Object.fromEntries(
      Object.entries(counts).flatMap(([kind, count]) => {
        const more = count - (this.#counts[kind] ?? 0)
        return more === 0 ? [] : [[kind, more]]
      }),
    )
    const indexing = index.indexing()
    const isNews = Object.keys(added).length > 0 || this.#wasIndexing !== (indexing !== undefined)
    this.#counts = counts
    this.#wasIndexing = indexing !== undefined
    if (!isNews) return []
    const before = this.#lastSeq
    this.#lastSeq = index.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM rollout')?.seq ?? 0
    return [
      {
        type: 'records',
        run: this.#id,
        added,
        ...(indexing === undefined ? {} : { indexing }),
        rollouts: indexing === undefined ? latestRollouts(index, before, MOST_ROLLOUTS) : [],
      },
    ]
  }

  #rows(): LiveChange[] {
    const { lines, end } = this.#newLines('metrics', this.#metrics)
    this.#metrics = end
    const rows = lines.flatMap(metricRow)
    return rows.length === 0 ? [] : [{ type: 'metrics', run: this.#id, rows }]
  }

  #lines(): LiveChange[] {
    const { lines, end } = this.#newLines('log', this.#log)
    this.#log = end
    return lines.length === 0 ? [] : [{ type: 'log', run: this.#id, lines }]
  }

  #newLines(name: 'metrics' | 'log', from: number): { lines: string[]; end: number } {
    const file = runFiles(this.#open.dirOf(this.#id))[name]
    const size = isOwn(file, 'file') ? sizeOf(file) : from
    if (size === from) return { lines: [], end: from }
    // It was cut: a torn end, or another file.
    return size < from ? { lines: [], end: size } : linesFrom(file, from)
  }
}

function metricRow(line: string): MetricRow[] {
  try {
    const { crc32: _, ...row } = parseJson(line) as MetricRow
    return [row]
  } catch {
    return []
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
