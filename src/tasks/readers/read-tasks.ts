import { basename } from 'node:path'
import { nearestName, UsageError } from '../../errors/index.ts'
import type { Task } from '../../schema/index.ts'
import type { Split } from '../contract.ts'
import { type Benchmark, benchmarks } from './benchmarks.ts'
import type { RawRow } from './files/raw-row.ts'
import { rawRows } from './files/raw-rows.ts'
import type { Format } from './format.ts'
import { type ColumnMap, coaTasks, type PlainChecker, plainFormat } from './formats/plain.ts'
import { verl } from './formats/verl.ts'
import { Row, RowProblem, RowSkipped } from './row.ts'
import { type Defaults, taskOf } from './task-of.ts'
import { UniqueIds } from './unique-ids.ts'

/** A row that gave no task. `line` is its line, or in JSON and Parquet files its place, from 1. */
export interface RowReport {
  line: number
  problem: string
  /** True for a row that is in order, but left out on purpose: with an image, a repetition, a secret answer. */
  isSkipped: boolean
}

export interface ReadOptions {
  /** The name of a benchmark, or `verl`, `plain` or `coa`. */
  format: string
  /** For `plain`: which column is which field. */
  map?: ColumnMap
  /** For `plain`: how answers are checked. Rows with tests are programs in any case. */
  checker?: PlainChecker
  /** Overrides what the rows or the file's name say. */
  split?: Split
  /** Override what the format or the file's name say. */
  domain?: string
  suite?: string
  /** Tasks, not rows. */
  limit?: number
  /** Leaves out the mark that keeps a benchmark published in encrypted form from being written anywhere. */
  allowPlainText?: boolean
  signal?: AbortSignal
}

/** Formats that are no benchmark. */
const otherFormats = ['verl', 'plain', 'coa'] as const

export const taskFormats: readonly string[] = [...benchmarks.map(({ name }) => name), ...otherFormats]

export const isTask = (item: Task | RowReport): item is Task => 'gold' in item

/** So many rows without one task, and the file is of another kind. */
const rowsWithoutTask = 200

/**
 * The tasks of a local file, in its order, and a report for each row that gave none. Streams: a file of gigabytes
 * needs the memory of its longest row (Parquet: of a row group). Throws only if the file cannot be read at all or no
 * row fits the format.
 */
export async function* readTasks(file: string, options: ReadOptions): AsyncGenerator<Task | RowReport> {
  const { format, defaults } = chosen(file, options)
  const ids = new UniqueIds()
  let given = 0
  // Reports wait for the first task: without one they are a single error about the file.
  let waiting: RowReport[] | undefined = []
  let firstRow: RawRow | undefined
  if ((options.limit ?? 1) < 1) return
  for await (const raw of rawRows(file, format)) {
    options.signal?.throwIfAborted()
    firstRow ??= raw
    const item = read(raw, format, defaults, ids, options)
    if (!isTask(item) && waiting !== undefined) {
      waiting.push(item)
      if (waiting.length >= rowsWithoutTask && !waiting.some(({ isSkipped }) => isSkipped)) break
      continue
    }
    if (waiting !== undefined) yield* waiting
    waiting = undefined
    yield item
    if (isTask(item) && ++given === options.limit) return
  }
  if (waiting === undefined) return
  if (!waiting.some(({ isSkipped }) => isSkipped))
    throw misfit(file, options.format, format, firstRow, waiting)
  yield* waiting
}

function read(
  raw: RawRow,
  format: Format,
  defaults: Defaults,
  ids: UniqueIds,
  options: ReadOptions,
): Task | RowReport {
  const { line } = raw
  if ('problem' in raw) return { line, problem: raw.problem, isSkipped: false }
  try {
    const draft = format.draft(new Row(raw.values))
    const { split, domain, suite } = options
    Object.assign(draft, split && { split }, domain && { domain }, suite && { suite })
    if (options.allowPlainText === true && draft.meta !== undefined) delete draft.meta['memoryOnly']
    return ids.claim(taskOf(draft, defaults), line)
  } catch (error) {
    if (error instanceof RowSkipped) return { line, problem: error.message, isSkipped: true }
    if (error instanceof RowProblem) return { line, problem: error.message, isSkipped: false }
    throw error
  }
}

function chosen(file: string, options: ReadOptions): { format: Format; defaults: Defaults } {
  const name = options.format
  const benchmark = benchmarks.find((candidate) => candidate.name === name)
  if (benchmark !== undefined) {
    return {
      format: benchmark.format,
      defaults: { suite: name, domain: benchmark.domain, split: splitIn(benchmark, file) },
    }
  }
  const suite =
    options.suite ?? basename(file).replace(/\.(?:jsonl|ndjson|json|csv|tsv|parquet)(?:\.gz)?$/i, '')
  const defaults = { suite, domain: options.domain ?? 'multihop' }
  switch (name) {
    case 'plain':
      return { format: plainFormat(options.map, options.checker), defaults }
    case 'verl':
      return { format: verl, defaults }
    case 'coa':
      return { format: coaTasks, defaults }
    default: {
      const near = nearestName(name, taskFormats)
      throw new UsageError(`there is no format ${JSON.stringify(name)}`, {
        fix: near === undefined ? `The formats are ${taskFormats.join(', ')}.` : `Did you mean ${near}?`,
      })
    }
  }
}

/** The split of a file that was pulled, by its name. */
const splitIn = (benchmark: Benchmark, file: string): Split | undefined =>
  benchmark.files.find(({ name }) => name === basename(file))?.split

function misfit(
  file: string,
  name: string,
  format: Format,
  first: RawRow | undefined,
  reports: readonly RowReport[],
): UsageError {
  if (first === undefined) {
    return new UsageError(`${basename(file)} holds no rows`, { fix: 'Check that the file is complete.' })
  }
  const found = 'values' in first ? Object.keys(first.values).slice(0, 30).join(', ') : 'nothing readable'
  const [{ line, problem }] = reports as [RowReport, ...RowReport[]]
  return new UsageError(
    `no row of ${basename(file)} is a task of ${name}: it needs ${format.columns.join('; ')}; found ${found} (row ${line}: ${problem})`,
    {
      fix: 'Give the format the file has, or --format plain with a --map such as question=problem,answer=gold.',
      details: { expected: format.columns, line, problem },
    },
  )
}
