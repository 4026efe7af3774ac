import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { dumpIndex } from '../../test/store/support/dump-index.ts'
import { task } from '../../test/store/support/records.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { createRun } from './create-run.ts'
import { openRun } from './open-run.ts'
import { reindex } from './reindex.ts'
import type { Run } from './run.ts'

const options = { command: 'coa test', coa: '0.0.0' }
const ids = Array.from({ length: 300 }, (_, position) => `t${position}`)

/** A run with 300 tasks, of which the first 100 were replaced. */
function filledRun(question = 'new'): string {
  const run = createRun(temporaryFolder(), options)
  run.appendMany(
    'task',
    ids.map((id) => task(id, 'old')),
  )
  run.appendMany(
    'task',
    ids.slice(0, 100).map((id) => task(id, question)),
  )
  run.close()
  return run.dir
}

function results(run: Run) {
  return {
    count: run.count('task'),
    get: ids.map((id) => run.get('task', id)?.question),
    list: run.list('task', { limit: 20, offset: 190 }).map(({ id }) => id),
    scan: Array.from(run.scan('task'), ({ id }) => id),
  }
}

const expected = {
  count: 300,
  get: ids.map((_, position) => (position < 100 ? 'new' : 'old')),
  list: [...ids.slice(290), ...ids.slice(0, 10)],
  scan: [...ids.slice(100), ...ids.slice(0, 100)],
}

function execute(dir: string, sql: string): void {
  const database = new DatabaseSync(join(dir, 'index.sqlite'))
  database.exec(sql)
  database.close()
}

const damages: [name: string, rebuilt: boolean, damage: (index: string, dir: string) => void][] = [
  ['nothing', false, () => {}],
  ['deleted', false, (index) => rmSync(index)],
  ['empty', false, (index) => truncateSync(index)],
  ['garbage', true, (index) => writeFileSync(index, 'not a database '.repeat(1000))],
  ['truncated', true, (index) => truncateSync(index, Math.floor(statSync(index).size / 8192) * 4096)],
  ['of another version', true, (_, dir) => execute(dir, 'PRAGMA user_version = 999')],
  ['without its tables', true, (_, dir) => execute(dir, 'DROP TABLE lookup')],
  ['without its progress', true, (_, dir) => execute(dir, 'DELETE FROM progress')],
  ['ahead of the log', true, (_, dir) => execute(dir, 'UPDATE progress SET bytes = bytes + 10')],
  ['built from another log', true, (index) => copyFileSync(join(filledRun('NEW'), 'index.sqlite'), index)],
  ['wrong about every offset', true, (_, dir) => execute(dir, 'UPDATE record SET offset = offset + 1')],
  ['wrong about the lengths', true, (_, dir) => execute(dir, 'UPDATE record SET length = length - 1')],
  [
    'pointing at other records',
    true,
    (_, dir) => execute(dir, 'UPDATE lookup SET offset = (SELECT max(offset) FROM record)'),
  ],
  ['inconsistent with its own counts', true, (_, dir) => execute(dir, 'UPDATE tally SET records = 999')],
]

for (const write of [false, true]) {
  test.each(damages)(
    `an index that is %s does not change the results (write: ${write})`,
    (_name, rebuilt, damage) => {
      const dir = filledRun()
      damage(join(dir, 'index.sqlite'), dir)
      using run = openRun(dir, { write })
      // The scan comes first: it checks the counts, which are otherwise trusted.
      expect([...run.scan('task')].map(({ id }) => id)).toEqual(expected.scan)
      expect(results(run)).toEqual(expected)
      if (!rebuilt) expect(run.recovery.indexRebuilt).toBe(false)
      run.close()
      const after = dumpIndex(dir)
      reindex(dir)
      expect(after).toEqual(dumpIndex(dir))
    },
  )
}

test('a reader whose index is outdated, replaced or destroyed still returns correct results', () => {
  const dir = filledRun()
  using reader = openRun(dir)
  expect(results(reader)).toEqual(expected)
  reindex(dir)
  using writer = openRun(dir, { write: true })
  writer.append('task', task('fresh'))
  expect(reader.count('task')).toBe(301)
  reindex(dir)
  writer.append('task', task('fresher'))
  expect(writer.count('task')).toBe(302)
  expect(reader.get('task', 'fresher')?.id).toBe('fresher')
  writeFileSync(join(dir, 'index.sqlite'), 'x'.repeat(20_000))
  writer.append('task', task('freshest'))
  expect(reader.count('task')).toBe(303)
  expect(writer.count('task')).toBe(303)
})

test('uses a private index where none can be written', () => {
  const dir = filledRun()
  rmSync(join(dir, 'index.sqlite'))
  mkdirSync(join(dir, 'index.sqlite'))
  for (const write of [false, true]) {
    using run = openRun(dir, { write })
    expect(results(run)).toEqual(expected)
  }
})

test('indexes more records than fit in one batch, both on write and from the log', () => {
  const run = createRun(temporaryFolder(), options)
  const many = Array.from({ length: 20_000 }, (_, position) =>
    task(`t${position % 19_000}`, String(position)),
  )
  run.appendMany('task', many.slice(0, 18_000))
  for (const record of many.slice(18_000)) run.append('task', record)
  expect(run.count('task')).toBe(19_000)
  expect(run.get('task', 't5')?.question).toBe('19005')
  expect(run.get('task', 't18000')?.question).toBe('18000')
  run.close()
  const written = dumpIndex(run.dir)
  expect(written['record']).toHaveLength(19_000)
  expect(written['lookup']).toHaveLength(19_000)
  const steps: number[] = []
  const result = reindex(run.dir, { onProgress: ({ lines }) => steps.push(lines) })
  expect(result).toEqual({ lines: 20_000, damagedLines: 0, counts: { task: 19_000 } })
  expect(steps).toEqual([10_000, 20_000])
  expect(dumpIndex(run.dir)).toEqual(written)
})

test('a journal left by a killed process does not corrupt the rebuilt index', () => {
  const dir = filledRun()
  const right = dumpIndex(dir)
  execute(dir, 'UPDATE record SET length = 1')
  // The journal of an unfinished transaction: it contains the pages of the wrong index, to be rolled back.
  const journal = join(dir, 'index.sqlite-journal')
  const database = new DatabaseSync(join(dir, 'index.sqlite'))
  database.exec('PRAGMA synchronous = OFF; BEGIN; UPDATE record SET seq = 0')
  copyFileSync(journal, `${journal}.copy`)
  database.exec('ROLLBACK')
  database.close()
  renameSync(`${journal}.copy`, journal)
  reindex(dir)
  expect(dumpIndex(dir)).toEqual(right)
})

test('reindex reports a folder that is not a run', () => {
  expect(() => reindex(temporaryFolder())).toThrow(/cannot rebuild/)
})
