import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { howMany } from '../../test/how-many.ts'
import { anyRecord, task } from '../../test/store/support/records.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { StoreError } from '../base/errors/index.ts'
import { type RecordKind, type RecordOf, recordKinds } from '../schema/index.ts'
import { createRun } from './create-run.ts'
import { openRun } from './open-run.ts'
import type { RecordInput } from './validate-record.ts'

const options = { command: 'coa test', coa: '0.0.0' }

test('a record is visible with its defaults as soon as append returns, in this run and to other readers', () => {
  using run = createRun(temporaryFolder(), options)
  using reader = openRun(run.dir)
  expect(reader.get('task', 'a')).toBeUndefined()
  expect(run.append('task', task('a'))).toBe(1)
  for (const view of [run, reader]) {
    expect(view.get('task', 'a')).toEqual({ ...task('a'), meta: {} })
    expect(view.has('task', 'a')).toBe(true)
    expect(view.has('trajectory', 'a')).toBe(false)
    expect(view.count('task')).toBe(1)
  }
})

test('the last version of an id wins, the log keeps both', () => {
  using run = createRun(temporaryFolder(), options)
  run.appendMany('task', [task('a', 'old'), task('b'), task('a', 'new')])
  run.append('task', task('b', 'newer'))
  expect(run.list('task').map(({ id, question }) => [id, question])).toEqual([
    ['a', 'new'],
    ['b', 'newer'],
  ])
  expect(run.count('task')).toBe(2)
  expect(readFileSync(join(run.dir, 'events.jsonl'), 'utf8').split('\n')).toHaveLength(5)
})

test('an invalid record is rejected in one line and writes nothing', () => {
  using run = createRun(temporaryFolder(), options)
  const bad = { ...task('b'), gold: { checker: 'luck' } } as unknown as RecordInput<'task'>
  expect(() => run.append('task', bad)).toThrow(
    /^this task does not match its schema: gold\.checker: [^\n]+$/,
  )
  expect(() => run.appendMany('task', [task('a'), bad])).toThrow(/this task \(number 1 given\)/)
  expect(() => run.append('dream' as RecordKind, bad)).toThrow(/unknown record kind "dream"/)
  expect(() => run.append('task', task('\uD800'))).toThrow(/id that is not valid Unicode/)
  expect(run.kinds()).toEqual(Object.fromEntries(recordKinds.map((kind) => [kind, 0])))
  expect(readFileSync(join(run.dir, 'events.jsonl'), 'utf8')).toBe('')
  expect(run.append('task', task('a'))).toBe(1)
})

test('pages are slices of the whole list, from either end', () => {
  using run = createRun(temporaryFolder(), options)
  const ids = Array.from({ length: 23 }, (_, position) => `t${position}`)
  run.appendMany(
    'task',
    ids.map((id) => task(id)),
  )
  const arguments_ = fc.record({
    limit: fc.oneof(fc.integer({ min: -1, max: 30 }), fc.constant(Number.POSITIVE_INFINITY)),
    offset: fc.integer({ min: -1, max: 30 }),
    order: fc.constantFrom('asc' as const, 'desc' as const),
  })
  fc.assert(
    fc.property(arguments_, ({ limit, offset, order }) => {
      const all = order === 'asc' ? ids : ids.toReversed()
      const expected = all.slice(Math.max(0, offset), Math.max(0, offset) + Math.max(0, limit))
      expect(run.list('task', { limit, offset, order }).map(({ id }) => id)).toEqual(expected)
    }),
    { numRuns: howMany(2000) },
  )
})

test('a scan sees the run as of its start, even if records are replaced meanwhile', () => {
  using run = createRun(temporaryFolder(), options)
  const ids = Array.from({ length: 50 }, (_, position) => `t${position}`)
  run.appendMany(
    'task',
    ids.map((id) => task(id, 'first')),
  )
  const seen: string[] = []
  for (const { id, question } of run.scan('task')) {
    expect(question).toBe('first')
    seen.push(id)
    run.append('task', task(id, 'second'))
  }
  expect(seen).toEqual(ids)
  expect([...run.scan('task')].map(({ question }) => question)).toEqual(ids.map(() => 'second'))
})

test('stores stages, metrics and log lines', () => {
  const runs = temporaryFolder()
  using run = createRun(runs, { ...options, id: 'r', configToml: 'a = 1\n' })
  using reader = openRun(run.dir)
  run.setStage('teach', { status: 'running' })
  expect(reader.manifest.stages['teach']?.status).toBe('running')
  run.metric({ step: 1, loss: 2 })
  run.log('hello')
  expect(Array.from(reader.metrics(), ({ loss }) => loss)).toEqual([2])
  expect(readFileSync(join(run.dir, 'log.txt'), 'utf8')).toMatch(/^\d{4}-.*Z hello\n$/)
  expect(readFileSync(join(run.dir, 'config.toml'), 'utf8')).toMatch(/^a = 1\n# checksum .*: [0-9a-f]{8}\n$/)
  expect(reader.id).toBe('r')
})

test('a reader cannot write, and a closed run rejects every call', () => {
  const run = createRun(temporaryFolder(), { ...options, durability: 'disk' })
  run.append('task', task('a'))
  run.close()
  run.close()
  expect(() => run.get('task', 'a')).toThrow(/is closed/)
  expect(existsSync(join(run.dir, 'lock'))).toBe(false)
  using reader = openRun(run.dir)
  expect(() => reader.append('task', task('b'))).toThrow(/read-only/)
  expect(() => reader.setStage('teach', { status: 'done' })).toThrow(/read-only/)
  expect(() => openRun(join(run.dir, 'nowhere'))).toThrow(StoreError)
})

test('behaves like a map in log order, whatever is appended, queried and reopened', () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('append' as const),
        item: anyRecord,
        id: fc.constantFrom('', 'x', 'y'),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('many' as const),
        items: fc.array(anyRecord, { maxLength: 4 }),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom({ do: 'query' as const }, { do: 'reopen' as const }) },
  )
  // 200 runs: each creates a folder and reopens it several times.
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let run = createRun(temporaryFolder(), options)
      const indexFile = () => statSync(join(run.dir, 'index.sqlite')).ino
      const firstIndexFile = indexFile()
      const model = new Map(recordKinds.map((kind) => [kind, new Map<string, RecordOf<RecordKind>>()]))
      const note = (kind: RecordKind, record: RecordOf<RecordKind>) => {
        model.get(kind)?.delete(record.id)
        model.get(kind)?.set(record.id, record)
      }
      const compare = () => {
        for (const [kind, records] of model) {
          expect([...run.scan(kind)]).toEqual([...records.values()])
          expect(run.list(kind, { order: 'desc' })).toEqual([...records.values()].reverse())
          expect(run.count(kind)).toBe(records.size)
          for (const [id, record] of records) expect(run.get(kind, id)).toEqual(record)
        }
      }
      try {
        for (const action of steps) {
          if (action.do === 'append') {
            const { kind } = action.item
            const record = { ...action.item.record, ...(action.id === '' ? {} : { id: action.id }) }
            run.append(kind, record)
            note(kind, record)
            expect(run.get(kind, record.id)).toEqual(record)
          } else if (action.do === 'many') {
            for (const kind of recordKinds) {
              const records = action.items.filter((item) => item.kind === kind).map((item) => item.record)
              run.appendMany(kind, records)
              for (const record of records) note(kind, record)
            }
          } else if (action.do === 'reopen') {
            run.close()
            run = openRun(run.dir, { write: true })
            expect(run.recovery).toEqual({
              torn: [],
              damagedLines: 0,
              damaged: [],
              lostLines: 0,
              uncheckedLines: 0,
              indexRebuilt: false,
            })
          } else compare()
        }
        compare()
        // Correct results could also come from rebuilding the index, which would hide that it was wrong.
        expect(indexFile()).toBe(firstIndexFile)
      } finally {
        run.close()
      }
    }),
    { numRuns: 200 },
  )
})
