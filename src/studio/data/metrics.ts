import { closeSync, fstatSync, openSync } from 'node:fs'
import { diagnose } from '../../stages/rl/diagnose.ts'
import { type MetricRow, readMetrics, runFiles } from '../../store/index.ts'
import type { Curves, Finding, MetricNames } from '../api.ts'
import type { OpenRuns } from './open-runs.ts'
import type { Query } from './query.ts'
import { isOwn } from './run-folder.ts'

const POINTS = 600
const MOST_POINTS = 5000
const MOST_RUNS = 12
/** Rows are kept of so many runs. */
const MOST_KEPT = 4

interface Known {
  stamp: string
  rows: MetricRow[]
}

/** The rows of metrics.jsonl of the runs looked at last, read again when the file has changed. */
export class Metrics {
  readonly #runs: OpenRuns
  readonly #known = new Map<string, Known>()

  constructor(runs: OpenRuns) {
    this.#runs = runs
  }

  names(id: string): MetricNames {
    const stages = Map.groupBy(this.#current(id), ({ stage }) => String(stage ?? ''))
    return {
      stages: [...stages].map(([stage, rows]) => {
        const names = new Set<string>()
        for (const row of rows)
          for (const [name, value] of Object.entries(row)) if (isDrawn(name, value)) names.add(name)
        const lastStep = rows.reduce((last, { step }) => Math.max(last, Number(step ?? 0)), 0)
        return { stage, names: [...names], steps: rows.length, lastStep }
      }),
    }
  }

  curves(query: Query): Curves {
    const runs = query.words('runs').slice(0, MOST_RUNS)
    const names = query.words('names')
    const stage = query.required('stage')
    const points = Math.max(10, Math.min(MOST_POINTS, query.whole('points') ?? POINTS))
    return {
      curves: runs.flatMap((run) => {
        const rows = this.#current(run).filter((row) => row['stage'] === stage)
        return names.flatMap((name) => {
          const known = rows.filter((row) => row[name] !== undefined && row[name] !== null)
          if (known.length === 0) return []
          const steps = known.map(({ step }, at) => (typeof step === 'number' ? step : at))
          const values = known.map((row) => finite(row[name]))
          const kept = extremes(values, points)
          return [
            {
              run,
              stage,
              name,
              steps: kept.map((at) => steps[at]!),
              values: kept.map((at) => values[at]!),
              of: known.length,
            },
          ]
        })
      }),
    }
  }

  findings(id: string): Finding[] {
    return diagnose(this.#rows(id))
  }

  /** The rows of each stage's last training: one that was repeated after a kill has replaced the earlier one. */
  #current(id: string): MetricRow[] {
    const kept = new Map<string, MetricRow[]>()
    for (const row of this.#rows(id)) {
      const key = `${row['stage']} ${row['kind']}`
      const rows = kept.get(key) ?? []
      kept.set(key, rows)
      while (rows.length > 0 && Number(rows.at(-1)!['step']) >= Number(row['step'])) rows.pop()
      rows.push(row)
    }
    return [...kept.values()].flat()
  }

  #rows(id: string): MetricRow[] {
    const { metrics: file } = runFiles(this.#runs.dirOf(id))
    if (!isOwn(file, 'file')) return []
    const stamp = stampOf(file)
    const known = this.#known.get(id)
    if (known?.stamp === stamp) return known.rows
    const rows = [...readMetrics(file)]
    this.#known.delete(id)
    this.#known.set(id, { stamp, rows })
    if (this.#known.size > MOST_KEPT) this.#known.delete(this.#known.keys().next().value!)
    return rows
  }
}

function stampOf(file: string): string {
  const fd = openSync(file, 'r')
  try {
    const { ino, size } = fstatSync(fd)
    return `${ino}:${size}`
  } finally {
    closeSync(fd)
  }
}

/** Values that are not finite are stored as words. */
function isDrawn(name: string, value: MetricRow[string] | undefined): boolean {
  if (name === 't' || name === 'step' || name === 'stage' || name === 'kind') return false
  return typeof value === 'number' || ['NaN', 'Infinity', '-Infinity'].includes(String(value))
}

function finite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The places of at most about so many values: of each stretch the first, the last, the least and the greatest. */
export function extremes(values: readonly (number | null)[], points: number): number[] {
  if (values.length <= points) return values.map((_, at) => at)
  const size = Math.ceil((values.length * 4) / points)
  const kept: number[] = []
  for (let from = 0; from < values.length; from += size) {
    const until = Math.min(values.length, from + size)
    let [least, greatest] = [from, from]
    let lost: number | undefined
    const places = new Set([from, until - 1])
    for (let at = from; at < until; at++) {
      const value = values[at]!
      // That a value was lost has to be seen, once in each stretch.
      if (value === null) lost ??= at
      else if (value < (values[least] ?? Number.POSITIVE_INFINITY)) least = at
      else if (value > (values[greatest] ?? Number.NEGATIVE_INFINITY)) greatest = at
    }
    if (lost !== undefined) places.add(lost)
    places.add(least)
    places.add(greatest)
    kept.push(...[...places].sort((one, other) => one - other))
  }
  return kept
}
