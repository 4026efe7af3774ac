import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/schema/index.ts'
import {
  benchmarks,
  openTasks,
  overlapOf,
  refuseOverlap,
  suites,
  type TaskSource,
} from '../../src/tasks/index.ts'
import { howMany } from '../how-many.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { benchmarkRows } from './benchmark-rows.ts'

const splits = ['train', 'dev', 'test'] as const

async function read(source: Omit<TaskSource, 'data'>): Promise<Task[]> {
  const tasks: Task[] = []
  for await (const task of openTasks({ data: 'nowhere', ...source })) tasks.push(task)
  return tasks
}

/** Reading one split gives exactly the tasks of that split in the complete data. */
async function expectSelected(source: Omit<TaskSource, 'data'>): Promise<Task[]> {
  const all = await read(source)
  for (const split of splits)
    expect(await read({ ...source, split })).toEqual(all.filter((task) => task.split === split))
  for (const task of all) expect(splits).toContain(task.split)
  return all
}

/** No held-out task is trained on. */
function expectApart(tasks: readonly Task[]): void {
  const training = tasks.filter(({ split }) => split === 'train')
  expect(
    overlapOf(
      training,
      tasks.filter(({ split }) => split !== 'train'),
    ),
  ).toEqual([])
}

const questions = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9 +?-]{5,30}$/), {
  minLength: 1,
  maxLength: 12,
  selector: (text) => text.toLowerCase().replaceAll(/\s+/g, ' ').trim(),
})
const names = fc.constantFrom(
  'mine',
  'train',
  'gsm8k_test',
  'validation',
  'test-00000-of-00001',
  'train-and-test',
)

describe('tasks are selected by split and never relabeled', () => {
  it.each(benchmarks.map(({ name }) => name))('%s', async (name) => {
    const folder = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(questions, names, async (asked, file) => {
        const from = join(folder, `${file}.jsonl`)
        const rows = asked.map((question, at) => benchmarkRows[name]!(`${question} ${at}?`, at))
        writeFileSync(from, rows.map((row) => JSON.stringify(row)).join('\n'))
        const tasks = await expectSelected({ from, format: name })
        expect(tasks.length).toBeGreaterThan(0)
        expectApart(tasks)
      }),
      { numRuns: howMany(100) },
    )
  })

  it('a file of your own, with splits, without, or with some', async () => {
    const folder = temporaryFolder()
    const marks = fc.constantFrom('train', 'dev', 'validation', 'test', undefined)
    const rows = fc.array(
      fc.record({ question: fc.constantFrom('a 1', 'A  1?', 'b', 'c', 'd', 'e', 'f'), split: marks }),
      {
        minLength: 1,
        maxLength: 20,
      },
    )
    await fc.assert(
      fc.asyncProperty(rows, names, fc.constantFrom(undefined, ...splits), async (list, file, own) => {
        const from = join(folder, `${file}.jsonl`)
        writeFileSync(from, list.map((row, id) => JSON.stringify({ ...row, id, answer: '1' })).join('\n'))
        const tasks = await expectSelected({ from, ...(own === undefined ? {} : { defaultSplit: own }) })
        for (const { id, split } of tasks) {
          const named = list[Number(id.split(':')[1])]?.split
          if (named !== undefined) expect(split).toBe(named === 'validation' ? 'dev' : named)
          else if (own !== undefined) expect(split).toBe(own)
        }
        // If the rows contradict each other, the pipeline must not start.
        const training = tasks.filter(({ split }) => split === 'train')
        const heldOut = tasks.filter(({ split }) => split !== 'train')
        const key = (question: string): string => question.toLowerCase().replaceAll(/[\s?]+/g, '')
        const isShared = heldOut.some(({ question }) =>
          training.some((other) => key(other.question) === key(question)),
        )
        if (isShared) expect(() => refuseOverlap(training, heldOut)).toThrow('trained on too')
        else refuseOverlap(training, heldOut)
      }),
      { numRuns: howMany(1000) },
    )
  })

  it.each([...suites.keys()])('generated %s', async (from) => {
    const tasks: Task[] = []
    for (const seed of [1, 2])
      for (const split of splits) {
        const own = await read({ from, split, seed, limit: 40 })
        for (const task of own) expect(task.split).toBe(split)
        tasks.push(...own)
      }
    expectApart(tasks)
  })
})
