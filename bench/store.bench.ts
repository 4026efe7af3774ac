/**
 * The store with a million small tasks: append and query speed, peak memory, index rebuild, file sizes; compared with
 * a plain loop that only writes the same lines.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchResult } from './bench-result.ts'

const RECORDS = 1_000_000
const PEAK_GOAL = 300
const QUERY_GOAL = 50

export async function run(records: number = RECORDS): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coa-bench-store-'))
  try {
    return measure(folder, records)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function measure(folder: string, records: number): BenchResult[] {
  // Alternating, the better of two: the machine may be busy for a while.
  const attempts = [0, 1].map((attempt) => {
    const turn = join(folder, String(attempt))
    mkdirSync(turn)
    const result = { plain: work(turn, records, 'plain'), one: work(turn, records, 'one'), turn }
    if (attempt === 0) rmSync(turn, { recursive: true })
    return result
  })
  const turn = attempts.at(-1)?.turn ?? folder
  const plain = Math.max(...attempts.map((attempt) => attempt.plain['perSecond'] ?? 0))
  const one = Math.max(...attempts.map((attempt) => attempt.one['perSecond'] ?? 0))
  const onePeak = Math.max(...attempts.map((attempt) => attempt.one['peakMegabytes'] ?? 0))
  const many = work(turn, records, 'many')
  const query = work(turn, records, 'query')
  const rebuild = work(turn, records, 'reindex')
  const megabytes = (name: string) => statSync(join(turn, 'one', name)).size / 1e6
  const metric = (name: string, value = Number.NaN, unit = 'ms', note?: string): BenchResult => {
    return { name, value, unit, ...(note === undefined ? {} : { note }) }
  }
  const peak = (name: string, value = Number.NaN) => goal(metric(name, value, 'MB'), PEAK_GOAL)
  const latency = (name: string, value?: number) => goal(metric(name, value), QUERY_GOAL)
  return [
    metric('append', one, 'records/s', `${records.toLocaleString('en')} tasks of about 330 bytes per line`),
    metric('plain writeSync of the same lines', plain, 'records/s'),
    metric('append / plain', one / plain, '×'),
    metric('appendMany', many['perSecond'], 'records/s', 'batches of 100'),
    metric('appendMany / plain', (many['perSecond'] ?? 0) / plain, '×'),
    peak('peak memory, append', onePeak),
    peak('peak memory, appendMany', many['peakMegabytes']),
    peak('peak memory, queries and scan', query['peakMegabytes']),
    peak('peak memory, reindex', rebuild['peakMegabytes']),
    metric('open for reading', query['openMs']),
    latency('get by id, median', query['getP50']),
    latency('get by id, 95th percentile', query['getP95']),
    latency('list page of 50, median', query['listP50']),
    latency('list page of 50, 95th percentile', query['listP95']),
    latency('count, 95th percentile', query['countP95']),
    metric('scan', query['scanPerSecond'], 'records/s'),
    metric('reindex', rebuild['seconds'], 's'),
    metric('events.jsonl', megabytes('events.jsonl'), 'MB'),
    metric('index.sqlite', megabytes('index.sqlite'), 'MB'),
  ]
}

function goal(result: BenchResult, limit: number): BenchResult {
  return { ...result, goal: `< ${limit} ${result.unit}`, met: result.value < limit }
}

function work(folder: string, records: number, mode: string): Record<string, number> {
  const worker = join(import.meta.dirname, 'store-worker.ts')
  const output = execFileSync(process.execPath, [worker, folder, String(records), mode], { encoding: 'utf8' })
  return JSON.parse(output)
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? RECORDS)))
