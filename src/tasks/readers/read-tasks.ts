import { basename } from 'node:path'
import { nearestName, UsageError } from '../../base/errors/index.ts'
import type { Split, Task } from '../../schema/index.ts'
import { questionKey } from '../question-key.ts'
import { splitOf } from '../splits.ts'
import { type Benchmark, benchmarks, taskFormats } from './benchmarks.ts'
import { detectFormat } from './detect-format.ts'
import type { RawRow } from './files/raw-row.ts'
import { rawRows } from './files/raw-rows.ts'
import type { Format, TaskDraft } from './format.ts'
import { type ColumnMap, coaTasks, type PlainChecker, plainFormat } from './formats/plain.ts'
import { verl } from './formats/verl.ts'
import { Row, RowProblem, RowSkipped } from './row.ts'
import { splitInName } from './split-names.ts'
import { type Defaults, taskOf } from './task-of.ts'
import { UniqueIds } from './unique-ids.ts'

/** A row that is not a task. `line` is its line or, in JSON and Parquet files, its position, from 1. */
export interface RowReport {
  line: number
  problem: string
  /** True for a valid row that is skipped on purpose: with an image, a duplicate, a secret answer. */
  isSkipped: boolean
}

export interface ReadOptions {
  /** The name of a benchmark, or `verl`, `plain` or `coa`. By default detected from the first rows. */
  format?: string
  /** For `plain`: which column is which field. */
  map?: ColumnMap
  /** For `plain`: how answers are checked, except for rows with tests. By default detected from the answers. */
  checker?: PlainChecker
  /** Yield only the tasks of this split. Rows are never moved to another split. */
  split?: Split
  /** The split of rows without one. By default from the file name or, failing that, a hash of the question. */
  defaultSplit?: Split
  /** Overrides the domain of the format. */
  domain?: string
  /** Overrides the suite, which is otherwise the format or the file name. */
  suite?: string
  /** The project's own grammar, for tasks without one. */
  grammar?: string
  /** Maximum number of tasks (not rows). */
  limit?: number
  /** Removes the mark that prevents writing tasks that are published only in encrypted form. */
  allowPlainText?: boolean
  signal?: AbortSignal
  /** Receives a description of how a file is read if the format was detected. */
  onNote?: (note: string) => void
}

export const isTask = (item: Task | RowReport): item is Task => 'gold' in item

/** After this many rows without a task, the format is assumed to be wrong. */
const maxRowsWithoutTask = 200

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
  const { name, format, defaults, split: ofFile } = await chooseFormat(file, options)
  const splitFor = splitRule(file, options.defaultSplit ?? ofFile ?? splitInName(file), options.onNote)
  const ids = new UniqueIds()
  let yielded = 0
  // Reports are held back until the first task: without any task, they become one error about the file.
  let pending: RowReport[] | undefined = []
  let firstRow: RawRow | undefined
  if ((options.limit ?? 1) < 1) return
  for await (const raw of rawRows(file, format)) {
    options.signal?.throwIfAborted()
    firstRow ??= raw
    const item = readRow(raw, format, { defaults, ids, splitFor }, options)
    if (!isTask(item) && pending !== undefined) {
      pending.push(item)
      if (pending.length >= maxRowsWithoutTask && !pending.some(({ isSkipped }) => isSkipped)) break
      continue
    }
    if (pending !== undefined) yield* pending
    pending = undefined
    if (isTask(item) && options.split !== undefined && item.split !== options.split) continue
    yield item
    if (isTask(item) && ++yielded === options.limit) return
  }
  if (pending === undefined) return
  if (!pending.some(({ isSkipped }) => isSkipped)) throw noTasksError(file, name, format, firstRow, pending)
  yield* pending
}

function readRow(
  raw: RawRow,
  format: Format,
  context: { defaults: Defaults; ids: UniqueIds; splitFor: (draft: TaskDraft) => Split },
  options: ReadOptions,
): Task | RowReport {
  const { line } = raw
  if ('problem' in raw) return { line, problem: raw.problem, isSkipped: false }
  try {
    const draft = format.draft(new Row(raw.values))
    const { domain, suite } = options
    Object.assign(draft, domain && { domain }, suite && { suite })
    if (options.allowPlainText === true && draft.meta !== undefined) delete draft.meta['memoryOnly']
    const split = context.splitFor(draft)
    return context.ids.claim(taskOf({ ...draft, split }, context.defaults), line)
  } catch (error) {
    if (error instanceof RowSkipped) return { line, problem: error.message, isSkipped: true }
    if (error instanceof RowProblem) return { line, problem: error.message, isSkipped: false }
    throw error
  }
}

/**
 * A row's split: its own, that of its file, or one derived from the question, so that the same question gets the same
 * split in every file.
 */
function splitRule(
  file: string,
  ofFile: Split | undefined,
  onNote: ReadOptions['onNote'],
): (draft: TaskDraft) => Split {
  let isNoted = false
  return ({ split, question }) => {
    if (split !== undefined) return split
    if (ofFile !== undefined) return ofFile
    if (!isNoted)
      onNote?.(
        `${basename(file)}: rows without a split are assigned one by a hash of the question: 80% train, 10% dev, 10% test`,
      )
    isNoted = true
    return splitOf(questionKey(question))
  }
}

async function chooseFormat(
  file: string,
  options: ReadOptions,
): Promise<{ name: string; format: Format; defaults: Defaults; split?: Split | undefined }> {
  const { map, grammar } = options
  const mustDetect =
    options.format === undefined || (options.format === 'plain' && options.checker === undefined)
  const detected = mustDetect ? await detectFormat(file, map, options.format) : undefined
  const name = options.format ?? (options.checker === undefined ? detected!.format : 'plain')
  const checker = options.checker ?? detected?.checker
  if (detected?.note !== undefined && options.checker === undefined) options.onNote?.(detected.note)
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

/** The split of a copy of a benchmark file. If the benchmark has only one split, a renamed copy has it too. */
function splitIn({ files }: Benchmark, file: string): Split | undefined {
  const pulled = files.find(({ name }) => name === basename(file))
  if (pulled !== undefined) return pulled.split
  const [only, other] = new Set(files.map(({ split }) => split))
  return other === undefined ? (splitInName(file) ?? only) : undefined
}

function noTasksError(
  file: string,
  name: string,
  format: Format,
  first: RawRow | undefined,
  reports: readonly RowReport[],
): UsageError {
  if (first === undefined) {
    return new UsageError(`${basename(file)} has no rows`, { fix: 'Check that the file is complete.' })
  }
  const found = 'values' in first ? Object.keys(first.values).slice(0, 30).join(', ') : 'nothing readable'
  const [{ line, problem }] = reports as [RowReport, ...RowReport[]]
  return new UsageError(
    `no row of ${basename(file)} is a ${name} task: it needs ${format.columns.join('; ')}; found ${found} (row ${line}: ${problem})`,
    {
      fix: 'Name the columns with --map, such as question=problem,answer=gold, or set the --format of the file.',
      details: { expected: format.columns, line, problem },
    },
  )
}
