import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { writeFileAtomic } from '../../base/files/index.ts'
import { processExists } from '../../base/processes/index.ts'
import { EngineError } from '../checkpoint/index.ts'
import { ensureEnvironment, existingEnvironment } from './environment.ts'
import { inspectPython } from './find-python.ts'
import { runProgram } from './run-program.ts'
import { type LaunchOptions, launchTrainer, trainerPaths } from './trainer-process.ts'

const Running = z.object({
  pid: z.number().int().positive(),
  url: z.string(),
  device: z.string(),
  dtype: z.string(),
  models: z.array(z.string()),
  python: z.string(),
  hasKey: z.boolean(),
  startedAt: z.string(),
  log: z.string(),
})
export type RunningTrainer = z.infer<typeof Running>

export interface StartOptions
  extends Pick<
    LaunchOptions,
    'models' | 'port' | 'host' | 'key' | 'device' | 'gpus' | 'more' | 'onStatus' | 'signal'
  > {
  /** The folder for all of the trainer's files. */
  home: string
  /** An existing Python environment to use. */
  python?: string | undefined
  now: string
}

export interface TrainerStatus {
  running: RunningTrainer | undefined
  /** False if the process exists but does not respond. */
  answers: boolean
  /** Resident memory of the process in bytes. */
  memory: number | undefined
  /** GPU memory for display, if it uses one. */
  gpuMemory: string | undefined
  environment: { python: string; torch: string } | undefined
}

/**
 * Starts the PyTorch trainer, or reports that it is already running. It creates its own Python environment on first use.
 *
 * @example
 * import { openTinker, startTrainer } from 'chain-of-agents/engine'
 *
 * const home = '.coa/trainer'
 * const now = new Date().toISOString()
 * const { trainer } = await startTrainer({ home, models: ['models/mine'], now, onStatus: console.error })
 * const engine = await openTinker({ url: trainer.url, model: 'models/mine' })
 */
export async function startTrainer(
  options: StartOptions,
): Promise<{ trainer: RunningTrainer; already: boolean }> {
  const { home, onStatus, signal } = options
  const running = readRunning(home)
  if (running !== undefined && (await isTrainer(running.pid))) return { trainer: running, already: true }
  mkdirSync(home, { recursive: true })
  const paths = trainerPaths(home)
  const { python } =
    options.python === undefined
      ? await ensureEnvironment({ folder: paths.python, onStatus, signal })
      : await inspectPython(options.python)
  onStatus?.('starting the trainer')
  const launched = await launchTrainer({ ...options, python, data: paths.data, log: paths.log })
  const trainer: RunningTrainer = {
    ...launched,
    models: [...options.models],
    python,
    hasKey: options.key !== undefined,
    startedAt: options.now,
    log: paths.log,
  }
  writeFileAtomic(paths.running, `${JSON.stringify(trainer, null, 2)}\n`, { mode: 0o600, durable: false })
  return { trainer, already: false }
}

/**
 * Asks the trainer to stop, and kills it if it does not.
 *
 * @example
 * import { stopTrainer } from 'chain-of-agents/engine'
 *
 * const { stopped, forced } = await stopTrainer('.coa/trainer')
 * console.log(stopped === undefined ? 'no trainer was running' : forced ? 'killed' : 'stopped')
 */
export async function stopTrainer(
  home: string,
  patienceMs = 15_000,
): Promise<{ stopped: RunningTrainer | undefined; forced: boolean }> {
  const running = readRunning(home)
  const { running: file } = trainerPaths(home)
  if (running === undefined || !(await isTrainer(running.pid))) {
    rmSync(file, { force: true })
    return { stopped: undefined, forced: false }
  }
  process.kill(running.pid, 'SIGTERM')
  const began = performance.now()
  let forced = false
  while (processExists(running.pid)) {
    if (!forced && performance.now() - began > patienceMs) {
      forced = true
      process.kill(running.pid, 'SIGKILL')
    }
    await sleep(50)
  }
  rmSync(file, { force: true })
  return { stopped: running, forced }
}

export async function trainerStatus(home: string): Promise<TrainerStatus> {
  const environment = existingEnvironment(trainerPaths(home).python)
  const running = readRunning(home)
  if (running === undefined || !(await isTrainer(running.pid)))
    return { running: undefined, answers: false, memory: undefined, gpuMemory: undefined, environment }
  const { output } = await runProgram('ps', ['-o', 'rss=', '-p', String(running.pid)])
  const kilobytes = Number(output)
  return {
    running,
    answers: await answers(running.url),
    memory: Number.isFinite(kilobytes) && kilobytes > 0 ? kilobytes * 1024 : undefined,
    gpuMemory: running.device.startsWith('cuda') ? await gpuMemory() : undefined,
    environment,
  }
}

function readRunning(home: string): RunningTrainer | undefined {
  const { running } = trainerPaths(home)
  if (!existsSync(running)) return undefined
  const parsed = Running.safeParse(parseLoosely(readFileSync(running, 'utf8')))
  if (parsed.success) return parsed.data
  throw new EngineError(`${running} is damaged.`, {
    fix: 'Delete it, and stop a trainer that is still running manually.',
  })
}

function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Process ids are reused: only a process that is a trainer may be treated as one, or stopped. */
async function isTrainer(pid: number): Promise<boolean> {
  if (!processExists(pid)) return false
  const { code, output, failure } = await runProgram('ps', ['-o', 'command=', '-p', String(pid)])
  // Without ps, a running process with that id has to do.
  return failure !== undefined || (code === 0 && output.includes('coa_trainer'))
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/api/v1/healthz`, { signal: AbortSignal.timeout(5_000) })).ok
  } catch {
    return false
  }
}

async function gpuMemory(): Promise<string | undefined> {
  const query = ['--query-gpu=memory.used,memory.total', '--format=csv,noheader']
  const { code, output } = await runProgram('nvidia-smi', query)
  return code === 0 ? output.split('\n')[0]?.replace(', ', ' of ') : undefined
}
