import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createRun, openRun, type Run, reindex } from '../../src/store/index.ts'
import { howMany } from '../how-many.ts'
import { crashRecord, randomFrom } from './support/crash-record.ts'
import { dumpIndex } from './support/dump-index.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const KILLS = howMany(200)
const WRITER = join(import.meta.dirname, 'crash-writer.ts')

interface Writer {
  child: ChildProcess
  /** The writer's output lines received so far. */
  lines: string[]
}

/** Starts a writer that waits for a signal, so that loading it overlaps with checking the previous one. */
function startWriter(dir: string, round: number): Writer {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(dir, '..', 'compile-cache') }
  const child = spawn(process.execPath, [WRITER, dir, String(round)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  })
  const writer: Writer = { child, lines: [] }
  let rest = ''
  child.stdin?.on('error', () => {})
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    writer.lines.push(...lines)
  })
  return writer
}

/** Lets the writer work until it has printed this many lines, plus a short delay, and kills it. */
async function killAfter({ child, lines }: Writer, count: number, delay: number): Promise<void> {
  const closed = once(child, 'close')
  child.stdin?.write('!')
  while (lines.length < count && child.exitCode === null) {
    await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), closed])
  }
  if (delay > 0) await sleep(delay)
  child.kill('SIGKILL')
  await closed
}

/** The last acknowledged version of each record. */
function acknowledged(lines: readonly string[]): Map<string, number> {
  const records = lines.map((line) => line.split(' ')).filter(([word]) => word === 'record')
  return new Map(records.map(([, id = '', version]) => [id, Number(version)]))
}

function checkRecords(run: Run, versions: Map<string, number>): void {
  for (const [id, version] of versions) {
    const record = run.get('task', id)
    // A later version may have reached the log before its acknowledgement was printed.
    expect(record?.level, id).toBeGreaterThanOrEqual(version)
    expect(record).toEqual({ ...crashRecord(id, record?.level ?? 0), meta: {} })
  }
}

function lastStep(lines: readonly string[], word: string): number | undefined {
  const line = lines.findLast((text) => text.startsWith(`${word} `))
  return line === undefined ? undefined : Number(line.split(' ')[1])
}

/** Compares the index left by the killed writers and completed on reopening with one built from scratch. */
function checkIndex(dir: string, scratch: string): void {
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch)
  linkSync(join(dir, 'events.jsonl'), join(scratch, 'events.jsonl'))
  reindex(scratch)
  expect(dumpIndex(dir)).toEqual(dumpIndex(scratch))
}

test(`every acknowledged record survives ${KILLS} kills at random moments`, {
  timeout: 900_000,
}, async () => {
  const folder = temporaryFolder()
  createRun(folder, { id: 'r', command: 'test', coa: '0' }).close()
  const dir = join(folder, 'r')
  // Fixed, but the times of the kills depend on the machine and differ from run to run.
  const random = randomFrom(20260101)
  const everything = new Map<string, number>()
  const tally = { records: 0, takenOver: 0, torn: 0, beforeOpen: 0 }
  let writer = startWriter(dir, 0)
  for (let round = 0; round < KILLS; round++) {
    // One in five is killed while it opens the run: taking over the lock, truncating, catching up.
    const early = random() < 0.2
    await killAfter(writer, early ? 0 : 1 + Math.floor(random() * 40), random() * (early ? 30 : 3))
    const { child, lines } = writer
    writer = startWriter(dir, round + 1)

    const run = openRun(dir, { write: true, command: 'check' })
    try {
      expect(run.recovery.damagedLines).toBe(0)
      expect(run.recovery.indexRebuilt).toBe(false)
      if (lines.length > 0 && !lines.includes('closing')) expect(run.recovery.takenOver?.pid).toBe(child.pid)
      const versions = acknowledged(lines)
      checkRecords(run, versions)
      for (const [id, version] of versions) everything.set(id, version)
      const metric = lastStep(lines, 'metric')
      if (metric !== undefined) {
        const steps = Array.from(run.metrics()).filter((row) => row['round'] === round)
        expect(steps.some((row) => row['step'] === metric)).toBe(true)
      }
      const stage = lastStep(lines, 'stage')
      if (stage !== undefined) {
        const summary = run.manifest.stages['crash']?.summary
        expect(summary?.['round']).toBe(round)
        expect(summary?.['step']).toBeGreaterThanOrEqual(stage)
      }
      tally.records += versions.size
      tally.takenOver += run.recovery.takenOver === undefined ? 0 : 1
      tally.torn += run.recovery.torn.length
      tally.beforeOpen += lines.length === 0 ? 1 : 0
    } finally {
      run.close()
    }
    checkIndex(dir, join(folder, 'fresh'))
  }
  writer.child.kill('SIGKILL')
  await once(writer.child, 'close')

  using run = openRun(dir)
  checkRecords(run, everything)
  // Otherwise the kills missed their targets.
  expect(tally.takenOver).toBeGreaterThan(KILLS / 2)
  expect(tally.records).toBeGreaterThan(KILLS)
  console.log(`${KILLS} kills: ${JSON.stringify(tally)}, ${run.count('task')} records`)
})
