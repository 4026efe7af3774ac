/**
 * The part of the store benchmark that runs in a separate process, so that its peak memory is the store's. Prints one
 * JSON object. Usage: node bench/store-worker.ts <folder> <records> <one|many|plain|query|reindex>
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Task } from '../src/schema/index.ts'
import { createRun, openRun, reindex } from '../src/store/index.ts'

const [folder = '', recordsText = '', mode = ''] = process.argv.slice(2)
const records = Number(recordsText)
const dir = join(folder, mode === 'many' ? 'many' : 'one')

/** About 230 bytes, with ids in random order, like content hashes. */
function task(position: number): Task {
  const a = Math.imul(position + 1, 2_654_435_761) >>> 0
  const b = Math.imul(a ^ (a >>> 15), 2_246_822_519) >>> 0
  return {
    v: 1,
    id: `task-${a.toString(16).padStart(8, '0')}${position.toString(16).padStart(8, '0')}`,
    suite: 'arithmetic',
    domain: 'math',
    split: 'train',
    question: `A shop sells ${a % 997} apples at ${b % 89} cents each. How much does it earn?`,
    gold: { checker: 'math', answer: String((a % 997) * (b % 89)) },
    level: b % 5,
    meta: { seed: b },
  }
}

/** Tracked by the kernel, so it includes peaks between two samples. */
function peakMegabytes(): number {
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return kilobytes === undefined ? process.memoryUsage.rss() / 1e6 : Number(kilobytes) / 1024
}

function percentiles(times: number[]): { p50: number; p95: number } {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (fraction: number) => sorted[Math.floor((sorted.length - 1) * fraction)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95) }
}

function time(times: number[], work: () => unknown): void {
  const start = performance.now()
  if (work() === undefined) throw new Error('the store lost a record')
  times.push(performance.now() - start)
}

function appendOne(): Record<string, number> {
  const run = createRun(folder, { id: 'one', command: 'bench', coa: 'bench' })
  const start = performance.now()
  for (let position = 0; position < records; position++) run.append('task', task(position))
  const seconds = (performance.now() - start) / 1000
  run.close()
  return { perSecond: records / seconds }
}

function appendMany(): Record<string, number> {
  const run = createRun(folder, { id: 'many', command: 'bench', coa: 'bench' })
  // Larger batches of the caller's own objects survive young-generation collections and double the heap, with or
  // without the store.
  const batch = 100
  const start = performance.now()
  for (let begin = 0; begin < records; begin += batch) {
    const size = Math.min(batch, records - begin)
    run.appendMany(
      'task',
      Array.from({ length: size }, (_, position) => task(begin + position)),
    )
  }
  const seconds = (performance.now() - start) / 1000
  run.close()
  return { perSecond: records / seconds }
}

/** The baseline: the same lines without validation, index or recovery. */
function plain(): Record<string, number> {
  const fd = openSync(join(folder, 'plain.jsonl'), 'a')
  const start = performance.now()
  for (let position = 0; position < records; position++) {
    const data = task(position)
    writeSync(
      fd,
      `${JSON.stringify({ seq: position + 1, t: Date.now(), kind: 'task', id: data.id, data })}\n`,
    )
  }
  const seconds = (performance.now() - start) / 1000
  closeSync(fd)
  return { perSecond: records / seconds }
}

function query(): Record<string, number> {
  const opened = performance.now()
  const run = openRun(dir)
  const openMs = performance.now() - opened
  const get: number[] = []
  const list: number[] = []
  const count: number[] = []
  const randomPosition = (turn: number) => (Math.imul(turn + 1, 2_654_435_761) >>> 0) % records
  for (let turn = 0; turn < 2000; turn++) time(get, () => run.get('task', task(randomPosition(turn)).id))
  for (let turn = 0; turn < 200; turn++) {
    const offset = Math.max(0, randomPosition(turn) - 50)
    time(list, () => run.list('task', { limit: 50, offset, order: turn % 2 === 0 ? 'asc' : 'desc' }).at(49))
    time(count, () => run.count('task'))
  }
  const scanned = performance.now()
  let seen = 0
  for (const record of run.scan('task')) seen += record.v
  if (seen !== records) throw new Error(`scan gave ${seen} of ${records} records`)
  const scanSeconds = (performance.now() - scanned) / 1000
  run.close()
  const getTimes = percentiles(get)
  const listTimes = percentiles(list)
  return {
    openMs,
    getP50: getTimes.p50,
    getP95: getTimes.p95,
    listP50: listTimes.p50,
    listP95: listTimes.p95,
    countP95: percentiles(count).p95,
    scanPerSecond: records / scanSeconds,
  }
}

function rebuild(): Record<string, number> {
  const start = performance.now()
  const { counts } = reindex(dir)
  if (counts['task'] !== records) throw new Error(`reindex found ${counts['task']} of ${records} records`)
  return { seconds: (performance.now() - start) / 1000 }
}

const modes: Record<string, () => Record<string, number>> = {
  one: appendOne,
  many: appendMany,
  plain,
  query,
  reindex: rebuild,
}
const work = modes[mode]
if (work === undefined) throw new Error(`unknown mode ${mode}`)
console.log(JSON.stringify({ ...work(), peakMegabytes: peakMegabytes() }))
