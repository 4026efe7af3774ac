import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nearestName, UsageError } from '../base/errors/index.ts'
import type { Split, Task } from '../schema/index.ts'
import { benchmarks, isTask, type ReadOptions, type RowReport, readTasks } from './readers/index.ts'
import { suites } from './suites/index.ts'

/** Where tasks come from: a generated suite, a pulled benchmark, or a file. */
export interface TaskSource extends ReadOptions {
  /** Name of a suite or benchmark, or path of a file. */
  from: string
  /** Folder of pulled benchmarks. */
  data: string
  /** Seed of a generated suite. */
  seed?: number
  /** Index of the first task, from 0. */
  first?: number
  /** Lowest and highest level; by default all. */
  levels?: readonly [number, number]
  /** Called for every row that is not a task. */
  onProblem?: (report: RowReport) => void
}

/**
 * Yields the tasks of a source, in order: a generated suite, a benchmark that was pulled, or a file. A generated suite yields
 * `limit` tasks, 100 by default.
 *
 * @example
 * import { openTasks } from 'chain-of-agents'
 *
 * for await (const { question, gold } of openTasks({ from: 'math', data: 'data', limit: 5, levels: [1, 2] })) {
 *   console.log(question, gold)
 * }
 */
export async function* openTasks(source: TaskSource): AsyncGenerator<Task> {
  const suite = suites.get(source.from)
  if (suite !== undefined) {
    const { seed = 1, split = 'train', first = 0, limit = 100 } = source
    const [low, high] = source.levels ?? suite.levels
    if (low < suite.levels[0] || high > suite.levels[1] || low > high) {
      throw new UsageError(`${suite.name} has no levels ${low} to ${high}`, {
        fix: `Its levels are ${suite.levels[0]} to ${suite.levels[1]}.`,
      })
    }
    for (let index = first; index < first + limit; index++) {
      source.signal?.throwIfAborted()
      yield suite.generate({ seed, split, index, level: low + (index % (high - low + 1)) })
    }
    return
  }
  const { first = 0, limit = Number.POSITIVE_INFINITY, levels } = source
  let seen = 0
  let yielded = 0
  for (const { file, ...own } of filesOf(source)) {
    const { limit: _all, ...options } = source
    for await (const item of readTasks(file, { ...options, ...own })) {
      if (!isTask(item)) {
        source.onProblem?.(item)
        continue
      }
      if (
        levels !== undefined &&
        !(item.level !== undefined && item.level >= levels[0] && item.level <= levels[1])
      )
        continue
      if (seen++ < first) continue
      yield item
      if (++yielded >= limit) return
    }
  }
}

function filesOf({
  from,
  data,
  split,
  defaultSplit,
}: TaskSource): { file: string; format?: string; defaultSplit?: Split }[] {
  const benchmark = benchmarks.find(({ name }) => name === from)
  if (benchmark !== undefined) {
    const files = benchmark.files
      .map(({ name, split: own = defaultSplit }) => ({ file: join(data, benchmark.name, name), own }))
      .filter(
        ({ file, own }) => (split === undefined || own === undefined || own === split) && existsSync(file),
      )
    const isElsewhere = benchmark.files.every(
      (file) => split !== undefined && file.split !== undefined && file.split !== split,
    )
    if (files.length === 0 && !isElsewhere) {
      const part = split === undefined ? '' : ` (${split})`
      throw new UsageError(`${benchmark.title}${part} is not in ${data}`, {
        fix: `Fetch it with \`coa tasks pull ${benchmark.name}\`, or use a file with --format ${benchmark.name}.`,
      })
    }
    return files.map(({ file, own }) => ({
      file,
      format: benchmark.name,
      ...(own === undefined ? {} : { defaultSplit: own }),
    }))
  }
  if (existsSync(from)) return [{ file: from }]
  const names = [...suites.keys(), ...benchmarks.map(({ name }) => name)]
  const near = nearestName(from, names)
  throw new UsageError(`there is no suite, benchmark or file "${from}"`, {
    fix: near === undefined ? '`coa tasks list` shows all suites and benchmarks.' : `Did you mean ${near}?`,
  })
}

export function parseSplit(text: string): Split {
  if (text === 'train' || text === 'dev' || text === 'test') return text
  throw new UsageError(`there is no split "${text}"`, { fix: 'Use train, dev or test.' })
}

/** "3" or "2..5". */
export function parseLevels(text: string): readonly [number, number] {
  const match = /^(\d+)(?:\.\.(\d+))?$/.exec(text.trim())
  if (match === null)
    throw new UsageError(`"${text}" is not a level`, { fix: 'Write one level, or a range such as 2..5.' })
  return [Number(match[1]), Number(match[2] ?? match[1])]
}
