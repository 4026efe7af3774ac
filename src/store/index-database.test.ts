import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import type { RecordKind } from '../schema/index.ts'
import { EntryBatch, identityOf } from './entry-batch.ts'
import { IndexDatabase, UnusableIndex } from './index-database.ts'

const progress = { bytes: 0, lines: 0, lastSeq: 0, tailHash: '', damagedLines: 0, uncheckedLines: 0 }

test('notices a replaced file before writing to the old one', () => {
  const folder = temporaryFolder()
  const path = join(folder, 'index.sqlite')
  const database = new IndexDatabase(path)
  new IndexDatabase(join(folder, 'new')).close()
  renameSync(join(folder, 'new'), path)
  let ran = false
  expect(() =>
    database.transaction(() => {
      ran = true
    }),
  ).toThrow(UnusableIndex)
  expect(ran).toBe(false)
  database.close()
})

test('a failed transaction changes nothing', () => {
  const database = new IndexDatabase(join(temporaryFolder(), 'index.sqlite'))
  const batch = new EntryBatch(10)
  batch.add({ kind: 'task', id: 'a', seq: 1, offset: 0, length: 5 })
  expect(() =>
    database.transaction(() => {
      database.apply(batch, [], { ...progress, bytes: 5 })
      throw new Error('stop')
    }),
  ).toThrow('stop')
  expect(database.progress()).toEqual(progress)
  expect(database.find(identityOf('task', 'a'))).toBeUndefined()
  database.close()
})

test('a later batch replaces entries of an earlier one, in every table', () => {
  const database = new IndexDatabase('')
  const batch = new EntryBatch(300)
  for (let turn = 0; turn < 2; turn++) {
    batch.clear()
    for (let number = 0; number < 250; number++) {
      const offset = (turn * 250 + number) * 10
      batch.add({
        kind: number % 2 === 0 ? 'task' : 'pass-rate',
        id: String(number),
        seq: 1 + offset / 10,
        offset,
        length: 10,
      })
    }
    database.transaction(() => database.apply(batch, [], { ...progress, bytes: (turn + 1) * 2500 }))
  }
  expect(database.tallies()).toEqual(
    new Map([
      ['task', 125],
      ['pass-rate', 125],
    ]),
  )
  expect(database.find(identityOf('task', '4'))).toMatchObject({ offset: 2540, length: 10 })
  expect(database.ranges('task').offsets[0]).toBe(2500)
  expect(database.page('pass-rate', true, 2, 0).map(({ offset }) => offset)).toEqual([4990, 4970])
  database.close()
})

test('pages across sections of the log are slices of the whole', () => {
  const database = new IndexDatabase('')
  const batch = new EntryBatch(200)
  for (let number = 0; number < 150; number++) {
    // Records of about a megabyte: about four per section, some of them replaced.
    const kind = number % 3 === 0 ? 'pass-rate' : 'task'
    const offset = number * 1_000_003
    const id = number % 10 === 9 ? '0' : String(number)
    batch.add({ kind, id, seq: number + 1, offset, length: 1_000_003 })
    if (batch.size === 40 || number === 149) {
      database.transaction(() => database.apply(batch, [], progress))
      batch.clear()
    }
  }
  for (const kind of ['task', 'pass-rate'] satisfies RecordKind[]) {
    const all = [...database.ranges(kind).offsets]
    expect(database.tallies().get(kind)).toBe(all.length)
    for (const descending of [false, true]) {
      const ordered = descending ? all.toReversed() : all
      for (let skip = 0; skip <= all.length + 1; skip++) {
        const page = database.page(kind, descending, 7, skip).map(({ offset }) => offset)
        expect(page).toEqual(ordered.slice(skip, skip + 7))
      }
    }
  }
  database.close()
})

test('only the first thousand damaged lines are stored individually', () => {
  const database = new IndexDatabase('')
  const damages = Array.from({ length: 800 }, (_, line) => ({ line, offset: line, length: 1, reason: 'r' }))
  const later = damages.map((damage) => ({ ...damage, offset: damage.offset + 800, line: damage.line + 800 }))
  database.apply(new EntryBatch(1), damages, { ...progress, damagedLines: 800 })
  database.apply(new EntryBatch(1), later, { ...progress, damagedLines: 1600 })
  expect(database.damages(5000).at(-1)).toEqual({ line: 999, offset: 999, length: 1, reason: 'r' })
  expect(database.progress().damagedLines).toBe(1600)
  database.close()
})
