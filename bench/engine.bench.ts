/**
 * Training in Node compared with PyTorch on the same CPU: tokens per second of both, alternating in one run, their
 * peak memory, and the time from process start to the first step. PyTorch gets its best settings: both attention
 * implementations and both thread wait policies are tried.
 */
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { referencePython } from '../test/engine/reference/python.ts'
import type { BenchResult } from './bench-result.ts'
import { Side } from './engine-side.ts'
import type { Trained } from './engine-worker.ts'

const THREADS = 2
const BATCH = { batch: 8, length: 256 }
const TOKENS = BATCH.batch * BATCH.length
const ROUNDS = 5
/** A few steps at a time, many times, so that each side gets undisturbed moments. */
const STEPS = 3
const MEMORY_GOAL = 1.2
const START_GOAL = 3
const speedGoals = { '1m': 1.3, '3m': 1.2, '10m': 1 }

type ModelName = keyof typeof speedGoals

const reference = new URL('../test/engine/reference/', import.meta.url)
const models = JSON.parse(readFileSync(new URL('bench_models.json', reference), 'utf8')) as Record<
  ModelName,
  object
>

export async function run(
  rounds = ROUNDS,
  names = Object.keys(speedGoals) as ModelName[],
): Promise<BenchResult[]> {
  const found = await referencePython()
  const python = 'python' in found ? found.python : undefined
  const results: BenchResult[] = [await startupTime()]
  for (const name of names) {
    if (python !== undefined) results.push(...(await compare(name, python, rounds)))
    else results.push(await alone(name, rounds, 'missing' in found ? found.missing : ''))
  }
  return results
}

function ourSide(): Side {
  return new Side(process.execPath, [fileURLToPath(new URL('./engine-process.ts', import.meta.url))])
}

function torchSide(python: string, waiting: 'passive' | 'active'): Side {
  return new Side(python, [fileURLToPath(new URL('bench_torch.py', reference))], {
    OMP_NUM_THREADS: String(THREADS),
    OMP_WAIT_POLICY: waiting,
  })
}

async function opened(side: Side, name: ModelName): Promise<Side> {
  await side.ask({ op: 'open', config: models[name], threads: THREADS })
  return side
}

function train(side: Side, steps: number, settings?: object): Promise<Trained> {
  return side.ask<Trained>({ op: 'train', ...BATCH, steps, ...(settings === undefined ? {} : { settings }) })
}

/** From process start to the end of the first step on a random model. */
async function startupTime(): Promise<BenchResult> {
  const attempts: number[] = []
  for (let attempt = 0; attempt < 3; attempt++) {
    const started = performance.now()
    const side = await opened(ourSide(), '1m')
    await train(side, 1)
    attempts.push((performance.now() - started) / 1000)
    side.close()
  }
  const value = Math.min(...attempts)
  return {
    name: 'process start to first step, 1m',
    value,
    unit: 's',
    goal: `< ${START_GOAL} s`,
    met: value < START_GOAL,
  }
}

async function alone(name: ModelName, rounds: number, missing: string): Promise<BenchResult> {
  const side = await opened(ourSide(), name)
  await train(side, 2)
  const { step_seconds, peak_memory_bytes } = await train(side, 3 * rounds)
  side.close()
  const memory = `${Math.round(peak_memory_bytes / 1e6)} MB`
  return {
    name: `training, ${name}`,
    value: TOKENS / Math.min(...step_seconds),
    unit: 'tokens/s',
    note: `${memory}; without PyTorch: ${missing}`,
  }
}

async function compare(name: ModelName, python: string, rounds: number): Promise<BenchResult[]> {
  const ours = await opened(ourSide(), name)
  await train(ours, 2)
  const torches = { passive: torchSide(python, 'passive'), active: torchSide(python, 'active') }
  for (const side of Object.values(torches)) await opened(side, name)
  // Every setting is measured in every round: choosing one beforehand would depend on the load at that moment.
  const candidates = (['passive', 'active'] as const).flatMap((waiting) =>
    ['sdpa', 'eager'].map((attention) => ({
      waiting,
      settings: { attention, threads: THREADS, optimizer: 'fused' },
      seconds: [] as number[],
    })),
  )
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const { waiting, settings, seconds: theirs } of candidates) {
      seconds.push(...(await train(ours, STEPS)).step_seconds)
      theirs.push(...(await train(torches[waiting], STEPS, settings)).step_seconds)
    }
  }
  for (const side of [ours, ...Object.values(torches)]) side.close()
  const fastest = candidates.reduce((left, right) =>
    Math.min(...left.seconds) <= Math.min(...right.seconds) ? left : right,
  )
  const best = { ours: Math.min(...seconds), torch: Math.min(...fastest.seconds) }
  const ratio = best.torch / best.ours
  const medianRatio = median(fastest.seconds) / median(seconds)
  const memory = await memoryOf(name, python, fastest.settings)
  return [
    { name: `training, ${name}`, value: TOKENS / best.ours, unit: 'tokens/s' },
    {
      name: `training with PyTorch, ${name}`,
      value: TOKENS / best.torch,
      unit: 'tokens/s',
      note: `${Object.values(fastest.settings).join(', ')}, ${fastest.waiting} waiting`,
    },
    {
      name: `training / PyTorch, ${name}`,
      value: ratio,
      unit: '×',
      goal: `≥ ${speedGoals[name]} ×`,
      met: ratio >= speedGoals[name],
      note: `best steps; medians ${medianRatio.toFixed(2)} ×; load ${loadavg()[0]!.toFixed(1)}`,
    },
    {
      name: `peak memory / PyTorch's, ${name}`,
      value: memory.ours / memory.torch,
      unit: '×',
      goal: `≤ ${MEMORY_GOAL} ×`,
      met: memory.ours / memory.torch <= MEMORY_GOAL,
      note: `${Math.round(memory.ours / 1e6)} and ${Math.round(memory.torch / 1e6)} MB`,
    },
  ]
}

/** Each in a new process that has done nothing else. */
async function memoryOf(name: ModelName, python: string, settings: object) {
  const ours = await opened(ourSide(), name)
  const torch = await opened(torchSide(python, 'passive'), name)
  const peaks = {
    ours: (await train(ours, 3)).peak_memory_bytes,
    torch: (await train(torch, 3, settings)).peak_memory_bytes,
  }
  ours.close()
  torch.close()
  return peaks
}

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!
}

if (import.meta.main) {
  const names = process.argv.slice(3) as ModelName[]
  console.table(await run(Number(process.argv[2] ?? ROUNDS), names.length > 0 ? names : undefined))
}
