import { basename } from 'node:path'
import { nearestName, UsageError } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'
import { questionKey } from '../question-key.ts'
import type { Split } from '../splits.ts'
import { splitOf } from '../splits.ts'
import { type Benchmark, benchmarks } from './benchmarks.ts'
import type { RawRow } from './files/raw-row.ts'
import { rawRows } from './files/raw-rows.ts'
import type { Format, TaskDraft } from './format.ts'
import { type ColumnMap, coaTasks, type PlainChecker, plainFormat } from './formats/plain.ts'
import { verl } from './formats/verl.ts'
import { recognise } from './recognise.ts'
import { Row, RowProblem, RowSkipped } from './row.ts'
import { splitInName } from './split-names.ts'
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
  /** The name of a benchmark, or `verl`, `plain` or `coa`. Left out: told from the first rows. */
  format?: string
  /** For `plain`: which column is which field. */
  map?: ColumnMap
  /** For `plain`: how answers are checked. Rows with tests are programs in any case. Left out: told from the answers. */
  checker?: PlainChecker
  /** Only the tasks of this split. No row is ever moved to another one. */
  split?: Split
  /** The split of rows that name none. Left out: what the file's name says, or else a hash of the question decides. */
  defaultSplit?: Split
  /** Override what the format or the file's name say. */
  domain?: string
  suite?: string
  /** The project's own grammar, for tasks that name none. */
  grammar?: string
  /** Tasks, not rows. */
  limit?: number
  /** Leaves out the mark that keeps a benchmark published in encrypted form from being written anywhere. */
  allowPlainText?: boolean
  signal?: AbortSignal
  /** Told in words how a file is read that nobody described. */
  onNote?: (note: string) => void
}

/** Formats that are no benchmark. */
const otherFormats = ['verl', 'plain', 'coa'] as const

export const taskFormats: readonly string[] = [...benchmarks.map(({ name }) => name), ...otherFormats]

export const isTask = (item: Task | RowReport): item is Task => 'gold' in item

/** So many rows without one task, and the file is of another kind. */
const rowsWithoutTask = 200

/**
 * Yields the tasks of a local file, in order, and a report for each row that is not a task. It streams: a file of several
 * gigabytes needs only the memory of its longest row (Parquet: of a row group). Throws only if the file cannot be read at all or
 * no row fits the format.
 *
 * @example
 * import { readTasks } from 'chain-of-agents'
 *
 * for await (const row of readTasks('questions.jsonl', { checker: 'exact', domain: 'web' })) {
 *   if ('problem' in row) console.warn(`line ${row.line}: ${row.problem}`)
 *   else console.log(row.question)
 * }
 */
export async function* readTasks(file: string, options: ReadOptions): AsyncGenerator<Task | RowReport> {
  const { name, format, defaults, split: ofFile } = await chosen(file, options)
  const splitFor = splitter(file, options.defaultSplit ?? ofFile ?? splitInName(file), options.onNote)
  const ids = new UniqueIds()
  let given = 0
  // Reports wait for the first task: without one they are a single error about the file.
  let waiting: RowReport[] | undefined = []
  let firstRow: RawRow | undefined
  if ((options.limit ?? 1) < 1) return
  for await (const raw of rawRows(file, format)) {
    options.signal?.throwIfAborted()
    firstRow ??= raw
    const item = read(raw, format, { defaults, ids, splitFor }, options)
    if (!isTask(item) && waiting !== undefined) {
      waiting.push(item)
      if (waiting.length >= rowsWithoutTask && !waiting.some(({ isSkipped }) => isSkipped)) break
      continue
    }
    if (waiting !== undefined) yield* waiting
    waiting = undefined
    if (isTask(item) && options.split !== undefined && item.split !== options.split) continue
    yield item
    if (isTask(item) && ++given === options.limit) return
  }
  if (waiting === undefined) return
  if (!waiting.some(({ isSkipped }) => isSkipped)) throw misfit(file, name, format, firstRow, waiting)
  yield* waiting
}

function read(
  raw: RawRow,
  format: Format,
  how: { defaults: Defaults; ids: UniqueIds; splitFor: (draft: TaskDraft) => Split },
  options: ReadOptions,
): Task | RowReport {
  const { line } = raw
  if ('problem' in raw) return { line, problem: raw.problem, isSkipped: false }
  try {
    const draft = format.draft(new Row(raw.values))
    const { domain, suite } = options
    Object.assign(draft, domain && { domain }, suite && { suite })
    if (options.allowPlainText === true && draft.meta !== undefined) delete draft.meta['memoryOnly']
    const split = how.splitFor(draft)
    return how.ids.claim(taskOf({ ...draft, split }, how.defaults), line)
  } catch (error) {
    if (error instanceof RowSkipped) return { line, problem: error.message, isSkipped: true }
    if (error instanceof RowProblem) return { line, problem: error.message, isSkipped: false }
    throw error
  }
}

/**
 * A row's split: its own, or that of its file, or one that follows from what it asks, so that the same question is in
 * the same split in every file.
 */
function splitter(
  file: string,
  ofFile: Split | undefined,
  onNote: ReadOptions['onNote'],
): (draft: TaskDraft) => Split {
  let isTold = false
  return ({ split, question }) => {
    if (split !== undefined) return split
    if (ofFile !== undefined) return ofFile
    if (!isTold)
      onNote?.(
        `${basename(file)}: rows without a split get one by a hash of the question: 80% train, 10% dev, 10% test`,
      )
    isTold = true
    return splitOf(questionKey(question))
  }
}

async function chosen(
  file: string,
  options: ReadOptions,
): Promise<{ name: string; format: Format; defaults: Defaults; split?: Split | undefined }> {
  const { map, grammar } = options
  const isOpen = options.format === undefined || (options.format === 'plain' && options.checker === undefined)
  const seen = isOpen ? await recognise(file, map, options.format) : undefined
  const name = options.format ?? (options.checker === undefined ? seen!.format : 'plain')
  const checker = options.checker ?? seen?.checker
  if (seen?.note !== undefined && options.checker === undefined) options.onNote?.(seen.note)
  const benchmark = benchmarks.find((candidate) => candidate.name === name)
  if (benchmark !== undefined) {
    const defaults = { suite: name, domain: benchmark.domain }
    return { name, format: benchmark.format, defaults, split: splitIn(benchmark, file) }
  }
  const suite =
    options.suite ?? basename(file).replace(/\.(?:jsonl|ndjson|json|csv|tsv|parquet)(?:\.gz)?$/i, '')
  const defaults = { suite, domain: grammar ?? 'multihop' }
  switch (name) {
    case 'plain':
      return { name, format: plainFormat({ map, checker, grammar }), defaults }
    case 'verl':
      return { name, format: verl, defaults }
    case 'coa':
      return { name, format: coaTasks, defaults }
    default: {
      const near = nearestName(name, taskFormats)
      throw new UsageError(`there is no format ${JSON.stringify(name)}`, {
        fix: near === undefined ? `The formats are ${taskFormats.join(', ')}.` : `Did you mean ${near}?`,
      })
    }
  }
}

/** The split of a copy of a benchmark's file: a benchmark that has only a test set stays one under any name. */
function splitIn({ files }: Benchmark, file: string): Split | undefined {
  const pulled = files.find(({ name }) => name === basename(file))
  if (pulled !== undefined) return pulled.split
  const [only, other] = new Set(files.map(({ split }) => split))
  return other === undefined ? (splitInName(file) ?? only) : undefined
}

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
      fix: 'Name the columns with --map, such as question=problem,answer=gold, or give the --format the file has.',
      details: { expected: format.columns, line, problem },
    },
  )
}
