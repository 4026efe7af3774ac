import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFull } from '../../test/how-many.ts'
import { anyRecord, task } from '../../test/store/support/records.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { checksumField } from './checksum.ts'
import { createRun } from './create-run.ts'
import { openRun } from './open-run.ts'
import type { Run } from './run.ts'

const options = { command: 'coa test', coa: '0.0.0', id: 'r' }

/** Checks that `run` has exactly these lines left, and that what was truncated is reported and saved. */
function checkCut(run: Run, log: Buffer, keptBytes: number) {
  const { torn } = run.recovery
  const kept = readFileSync(join(run.dir, 'events.jsonl'))
  expect(kept.equals(log.subarray(0, keptBytes))).toBe(true)
  if (keptBytes === log.length) return expect(torn).toEqual([])
  expect(torn).toMatchObject([
    { path: join(run.dir, 'events.jsonl'), offset: keptBytes, bytes: log.length - keptBytes },
  ])
  const saved = torn[0]?.savedTo ?? ''
  expect(dirname(saved)).toBe(run.dir)
  expect(basename(saved)).toMatch(/^events\.torn-/)
  expect(readFileSync(saved).equals(log.subarray(keptBytes))).toBe(true)
}

function linesBefore(log: Buffer, end: number): number {
  return log.subarray(0, end).lastIndexOf(0x0a) + 1
}

/** A line that was modified before it was written, as by another version of coa. */
function withNewChecksum(line: string): string {
  return line.slice(0, line.lastIndexOf(',')) + checksumField(line.slice(0, line.lastIndexOf(',')))
}

/** A log as left by a killed process: the torn part is not in the index. */
function tear(dir: string, log: Buffer): void {
  writeFileSync(join(dir, 'events.jsonl'), log)
  rmSync(join(dir, 'index.sqlite'), { force: true })
}

test('a log truncated at any byte keeps its complete lines and loses exactly the torn rest', () => {
  const runs = temporaryFolder()
  const run = createRun(runs, options)
  run.append('task', { ...task('😀'), question: 'old' })
  run.append('task', { ...task('😀'), question: 'new' })
  run.close()
  const log = readFileSync(join(run.dir, 'events.jsonl'))
  for (let end = log.length; end >= 0; end--) {
    tear(run.dir, log.subarray(0, end))
    const complete = linesBefore(log, end)
    using reader = openRun(run.dir)
    expect(reader.recovery.torn.map(({ bytes, savedTo }) => [bytes, savedTo])).toEqual(
      end === complete ? [] : [[end - complete, undefined]],
    )
    expect(readFileSync(join(run.dir, 'events.jsonl')).length).toBe(end)
    using writer = openRun(run.dir, { write: true })
    checkCut(writer, log.subarray(0, end), complete)
    const lines = log.subarray(0, complete).toString().split('\n').slice(0, -1)
    const latest = new Map(
      lines.map((line) => JSON.parse(line)).map((envelope) => [envelope.id, envelope.data]),
    )
    for (const view of [reader, writer]) {
      expect(view.count('task')).toBe(latest.size)
      for (const [id, data] of latest) expect(view.get('task', id)).toEqual(data)
    }
    expect(writer.append('task', task('c'))).toBe(lines.length + 1)
  }
})

test('random records, random truncation, random garbage at the end', () => {
  const garbage = fc.oneof(
    fc.constant(Buffer.alloc(0)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom('\n', '\n\n', '\0'.repeat(100), '{"seq":1}\n', 'null\n', '{}')
      .map((text) => Buffer.from(text)),
  )
  // 200 runs: each creates and reopens a run folder.
  fc.assert(
    fc.property(
      fc.array(anyRecord, { maxLength: 6 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      garbage,
      (items, fraction, tail) => {
        const run = createRun(temporaryFolder(), options)
        const ends = [0]
        for (const { kind, record } of items) {
          run.append(kind, record)
          ends.push(readFileSync(join(run.dir, 'events.jsonl')).length)
        }
        run.close()
        const path = join(run.dir, 'events.jsonl')
        const cut = Math.round(fraction * (ends.at(-1) ?? 0))
        const log = Buffer.concat([readFileSync(path).subarray(0, cut), tail])
        tear(run.dir, log)
        const complete = Math.max(...ends.filter((end) => end <= cut))
        // A newline right after a line that was truncated just before its own completes that line.
        const healed = tail[0] === 0x0a && ends.includes(cut + 1) ? cut + 1 : complete
        using writer = openRun(run.dir, { write: true })
        checkCut(writer, log, healed)
        const kept = items.slice(0, ends.indexOf(healed))
        const latest = new Map(kept.map(({ kind, record }) => [`${kind} ${record.id}`, { kind, record }]))
        for (const { kind, record } of latest.values()) expect(writer.get(kind, record.id)).toEqual(record)
        expect(Object.values(writer.kinds()).reduce((sum, count) => sum + count, 0)).toBe(latest.size)
      },
    ),
    { numRuns: isFull ? 200 : 50 },
  )
})

test('damage in the middle is skipped, counted and reported with line and offset', () => {
  const run = createRun(temporaryFolder(), options)
  run.appendMany(
    'task',
    ['a', 'b', 'c', 'd'].map((id) => task(id)),
  )
  run.close()
  const path = join(run.dir, 'events.jsonl')
  const [a = '', b = '', c = '', d = ''] = readFileSync(path, 'utf8').split('\n')
  const flipped = b.replace('"math"', '"mati"')
  const misfit = withNewChecksum(c.replace('"checker":"math"', '"checker":"luck"'))
  const unknown = withNewChecksum(d.replace('"kind":"task"', '"kind":"dream"'))
  writeFileSync(path, [a, b.slice(0, 30), misfit, '', unknown, flipped, d, ''].join('\n'))
  for (const write of [false, true]) {
    using again = openRun(run.dir, { write })
    expect(again.recovery.torn).toEqual([])
    expect(again.recovery.damagedLines).toBe(5)
    expect(again.recovery.damaged.map(({ line, reason }) => [line, reason.slice(0, 20)])).toEqual([
      [2, 'not a JSON object'],
      [3, 'not a task: gold.che'],
      [4, 'not a JSON object'],
      [5, 'unknown kind "dream"'],
      [6, 'its checksum does no'],
    ])
    expect(again.recovery.damaged[0]).toMatchObject({ offset: a.length + 1, length: 31 })
    expect([...again.scan('task')].map(({ id }) => id)).toEqual(['a', 'd'])
    expect(again.get('task', 'b')).toBeUndefined()
  }
})

test('a line this version cannot read is kept, even at the very end', () => {
  const run = createRun(temporaryFolder(), options)
  run.append('task', task('a'))
  run.close()
  const path = join(run.dir, 'events.jsonl')
  const line = readFileSync(path, 'utf8').replace('"kind":"task"', '"kind":"dream"')
  const future = `${withNewChecksum(line.trimEnd().replace('"seq":1', '"seq":2'))}\n`
  appendFileSync(path, future)
  using again = openRun(run.dir, { write: true })
  expect(again.recovery).toMatchObject({ torn: [], damagedLines: 1 })
  expect(again.append('task', task('b'))).toBe(3)
  expect(readFileSync(path, 'utf8')).toContain(future)
})

test('a last line with something else instead of its newline is torn', () => {
  const run = createRun(temporaryFolder(), options)
  run.append('task', task('a'))
  run.close()
  const path = join(run.dir, 'events.jsonl')
  const log = readFileSync(path)
  tear(run.dir, Buffer.concat([log.subarray(0, -1), Buffer.from('x')]))
  using again = openRun(run.dir, { write: true })
  expect(again.recovery.torn).toMatchObject([{ offset: 0, bytes: log.length }])
})

test('torn metrics are truncated and saved too', () => {
  const run = createRun(temporaryFolder(), options)
  run.metric({ step: 1 })
  run.close()
  appendFileSync(join(run.dir, 'metrics.jsonl'), 'garbage\n{"step":2')
  using again = openRun(run.dir, { write: true })
  expect(again.recovery.torn).toMatchObject([{ bytes: 17, text: 'garbage\n{"step":2' }])
  again.metric({ step: 3 })
  expect(Array.from(again.metrics(), ({ step }) => step)).toEqual([1, 3])
  expect(readdirSync(run.dir).filter((name) => name.startsWith('metrics.torn-'))).toHaveLength(1)
})

test('two torn tails in the same millisecond are both saved', () => {
  const run = createRun(temporaryFolder(), options)
  run.close()
  const path = join(run.dir, 'events.jsonl')
  const saved = new Set<string>()
  for (let turn = 0; turn < 20; turn++) {
    appendFileSync(path, `torn ${turn}`)
    using again = openRun(run.dir, { write: true })
    saved.add(readFileSync(again.recovery.torn[0]?.savedTo ?? '', 'utf8'))
  }
  expect(saved.size).toBe(20)
})

test('a run folder can be copied while it is being written', () => {
  const runs = temporaryFolder()
  using run = createRun(runs, options)
  run.appendMany(
    'task',
    ['a', 'b'].map((id) => task(id)),
  )
  mkdirSync(join(runs, 'copy'))
  for (const name of ['manifest.json', 'events.jsonl'])
    copyFileSync(join(run.dir, name), join(runs, 'copy', name))
  using copy = openRun(join(runs, 'copy'), { write: true })
  expect(copy.count('task')).toBe(2)
})
