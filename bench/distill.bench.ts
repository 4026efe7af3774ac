/**
 * From team runs to masked tokens: distill, filter, tokenize and mask, on one and two threads, and memory use as more
 * runs are processed. The runs are in memory; reading them from a run folder is measured by the store benchmark.
 */
import { Worker } from 'node:worker_threads'
import type { BenchResult } from './bench-result.ts'
import type { WorkerRequest, WorkerResult } from './distill-worker.ts'

const TRAJECTORIES = 4_000
const MEMORY_TRAJECTORIES = 20_000
const GOAL = 2_000

export async function run(
  trajectories = TRAJECTORIES,
  memoryRuns = MEMORY_TRAJECTORIES,
): Promise<BenchResult[]> {
  // The better of two: caches and clock speeds are shared with other processes.
  const attempts: { one: Measured; two: Measured }[] = []
  for (let attempt = 0; attempt < 2; attempt++) {
    attempts.push({
      one: await measure(1, { trajectories, nearDuplicates: true }),
      two: await measure(2, { trajectories, nearDuplicates: true }),
    })
  }
  const best = (side: 'one' | 'two'): Measured =>
    attempts
      .map((attempt) => attempt[side])
      .reduce((left, right) => (left.perSecond > right.perSecond ? left : right))
  const one = best('one')
  const two = best('two')
  const { memory } = (await measure(1, { trajectories: memoryRuns, nearDuplicates: false })).results[0]!
  const single = one.results[0]!
  const each = (milliseconds: number): number => (1000 * trajectories) / milliseconds
  const perThread = (name: string, milliseconds: number): BenchResult => {
    return { name: `${name}, one thread`, value: each(milliseconds), unit: 'trajectories/s' }
  }
  return [
    {
      name: 'length',
      value: single.tokens / trajectories,
      unit: 'tokens',
      note: 'including the prompt, qwen2.5',
    },
    perThread('distill', single.distillMs),
    perThread('filter', single.filterMs),
    perThread('tokenize and mask', single.encodeMs),
    { name: 'all, one thread', value: one.perSecond, unit: 'trajectories/s', note: `${single.kept} kept` },
    {
      name: 'all, two threads',
      value: two.perSecond,
      unit: 'trajectories/s',
      goal: `≥ ${GOAL.toLocaleString('en')}`,
      met: two.perSecond >= GOAL,
    },
    { name: 'two threads / one', value: two.perSecond / one.perSecond, unit: '×' },
    {
      name: 'memory, all / first hundredth',
      value: memory.late / memory.early,
      unit: '×',
      goal: '≤ 1.2 ×',
      met: memory.late / memory.early <= 1.2,
      note: `${memoryRuns.toLocaleString('en')} trajectories, ${Math.round(memory.late / 1e6)} MB at the end, near-duplicates off`,
    },
  ]
}

interface Measured {
  perSecond: number
  results: WorkerResult[]
}

async function measure(threads: number, workerData: WorkerRequest): Promise<Measured> {
  const workers = Array.from({ length: threads }, () => {
    return new Worker(new URL('./distill-worker.ts', import.meta.url), { workerData })
  })
  const next = (worker: Worker): Promise<unknown> =>
    new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  await Promise.all(workers.map(next))
  const results = await Promise.all(
    workers.map((worker) => {
      const done = next(worker)
      worker.postMessage('go')
      return done as Promise<WorkerResult>
    }),
  )
  // CPU time of each thread: opening the tokenizer and warming up are paid only once.
  const perSecond = results.reduce((sum, { distillMs, filterMs, encodeMs }) => {
    return sum + (1000 * workerData.trajectories) / (distillMs + filterMs + encodeMs)
  }, 0)
  return { perSecond, results }
}

if (import.meta.main)
  console.table(
    await run(Number(process.argv[2] ?? TRAJECTORIES), Number(process.argv[3] ?? MEMORY_TRAJECTORIES)),
  )
