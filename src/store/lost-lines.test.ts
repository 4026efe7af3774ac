import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { task } from '../../test/store/support/records.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { createRun } from './create-run.ts'
import { openRun } from './open-run.ts'
import { describeDamage } from './recovery.ts'
import { reindex } from './reindex.ts'

const options = { command: 'coa test', coa: '0.0.0', id: 'r' }

function filledRun(): string {
  const run = createRun(temporaryFolder(), options)
  run.appendMany(
    'task',
    ['a', 'b', 'c', 'd'].map((id) => task(id)),
  )
  run.close()
  return run.dir
}

for (const [how, bytesLeft] of [
  ['truncated at a line end', (log: Buffer) => log.indexOf('\n', log.indexOf('\n') + 1) + 1],
  ['emptied', () => 0],
] as const) {
  test(`a log that was ${how} is reported to every reader and rejected for writing until the loss is accepted`, () => {
    const dir = filledRun()
    const log = join(dir, 'events.jsonl')
    truncateSync(log, bytesLeft(readFileSync(log)))
    const left = readFileSync(log, 'utf8').split('\n').length - 1
    for (let turn = 0; turn < 2; turn++) {
      using reader = openRun(dir)
      expect(reader.recovery.lostLines).toBe(4 - left)
      expect(describeDamage(reader.recovery).join()).toContain(`has lost ${4 - left} lines`)
      expect(reader.count('task')).toBe(left)
      expect(() => openRun(dir, { write: true })).toThrow(`has lost ${4 - left} of the lines`)
    }
    reindex(dir)
    using writer = openRun(dir, { write: true })
    expect(writer.recovery.lostLines).toBe(0)
    expect(writer.append('task', task('e'))).toBe(left + 1)
  })
}

test('a damaged last line that was acknowledged is not treated as torn', () => {
  const dir = filledRun()
  const log = join(dir, 'events.jsonl')
  const bytes = readFileSync(log)
  bytes[bytes.length - 40]! ^= 1
  writeFileSync(log, bytes)
  expect(() => openRun(dir, { write: true })).toThrow(/has lost 1 of the lines .* saved to .*events\.torn-/)
})

test('a damaged index does not blame the log', () => {
  const dir = filledRun()
  const database = new DatabaseSync(join(dir, 'index.sqlite'))
  database.exec('UPDATE progress SET bytes = bytes + 64')
  database.close()
  using run = openRun(dir, { write: true })
  expect(run.recovery).toMatchObject({ lostLines: 0, indexRebuilt: true })
  expect(run.count('task')).toBe(4)
})

test('a line damaged after indexing is skipped, counted and reported when read', () => {
  const dir = filledRun()
  const log = join(dir, 'events.jsonl')
  const bytes = readFileSync(log)
  bytes[bytes.indexOf('1 + 1')]! ^= 4
  writeFileSync(log, bytes)
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  using run = openRun(dir)
  expect([...run.scan('task')].map(({ id }) => id)).toEqual(['b', 'c', 'd'])
  expect(run.recovery.damaged).toMatchObject([{ line: 1, reason: 'its checksum does not match' }])
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('1 damaged line'), 'RunDamage')
  warn.mockRestore()
})

test('lines from an older version are read and counted as unchecked', () => {
  const dir = filledRun()
  const log = join(dir, 'events.jsonl')
  writeFileSync(log, readFileSync(log, 'utf8').replaceAll(/,"crc32":"[0-9a-f]{8}"\}$/gm, '}'))
  reindex(dir)
  using run = openRun(dir, { write: true })
  expect(run.recovery).toMatchObject({ damagedLines: 0, uncheckedLines: 4 })
  run.append('task', task('a', 'again'))
  expect(run.recovery.uncheckedLines).toBe(4)
  expect(run.get('task', 'a')?.question).toBe('again')
})
