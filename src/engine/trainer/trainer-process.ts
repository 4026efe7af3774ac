import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readEnvironment } from '../../settings/index.ts'
import { EngineError } from '../checkpoint/index.ts'
import { trainerSource } from './trainer-source.ts'

export interface LaunchOptions {
  python: string
  /** Folders of base models, or NAME=FOLDER. */
  models: readonly string[]
  /** For checkpoints and the database of futures. */
  data: string
  /** Log file. */
  log: string
  /** Default 0: a free port. */
  port?: number | undefined
  host?: string | undefined
  key?: string | undefined
  device?: string | undefined
  /** With more than one, models are sharded over them. */
  gpus?: number | undefined
  /** Further command-line arguments of the trainer. */
  more?: readonly string[] | undefined
  onStatus?: ((line: string) => void) | undefined
  signal?: AbortSignal | undefined
}

export interface Launched {
  url: string
  device: string
  dtype: string
  pid: number
}

/** Loading a large model from a slow disk takes long. */
const START_MS = 30 * 60_000

/** Starts a trainer that outlives this process, and waits until it responds. */
export async function launchTrainer(options: LaunchOptions): Promise<Launched> {
  const { signal, onStatus, log } = options
  const outputs = `${log}.out`
  const child = start(options, outputs)
  const began = performance.now()
  let lastReport = began
  let ended: string | undefined
  child.on('error', (cause) => {
    ended = cause.message
  })
  child.on('exit', (code, killer) => {
    ended ??= killer === null ? `it exited with code ${code}` : `it was killed by ${killer}`
  })
  try {
    for (;;) {
      signal?.throwIfAborted()
      const ready = readyLine(outputs)
      if (ready !== undefined) return ready
      if (ended !== undefined) throw notStarted(ended, log)
      const now = performance.now()
      if (now - began > START_MS) throw notStarted('it did not respond within half an hour', log)
      if (now - lastReport > 5_000) {
        lastReport = now
        onStatus?.(`waiting for the trainer, ${Math.round((now - began) / 1000)} s`)
      }
      await sleep(100)
    }
  } catch (cause) {
    killAll(child)
    throw cause
  } finally {
    child.removeAllListeners()
    child.unref()
  }
}

function start(
  { python, models, data, log, host, key, device, gpus = 1, port = 0, more = [] }: LaunchOptions,
  outputs: string,
): ChildProcess {
  const { folder } = trainerSource()
  for (const path of [data, dirname(log)]) mkdirSync(path, { recursive: true })
  const many = ['-m', 'torch.distributed.run', '--standalone', `--nproc-per-node=${gpus}`]
  const args = [...(gpus > 1 ? many : []), '-m', 'coa_trainer', '--data', data, '--port', String(port)]
  for (const model of models) args.push('--model', model)
  if (host !== undefined) args.push('--host', host)
  if (device !== undefined) args.push('--device', device)
  const environment = readEnvironment()
  const paths = [folder, environment['PYTHONPATH']].filter((part) => part !== undefined && part !== '')
  return spawn(python, [...args, ...more], {
    detached: true,
    stdio: ['ignore', openSync(outputs, 'w', 0o600), openSync(log, 'a', 0o600)],
    env: {
      ...environment,
      PYTHONPATH: paths.join(process.platform === 'win32' ? ';' : ':'),
      PYTHONUNBUFFERED: '1',
      // Container images often set it; then every start compiles thousands of modules, which takes longer than loading them.
      PYTHONDONTWRITEBYTECODE: '',
      // Not as an argument, which everyone on the machine can read.
      ...(key === undefined ? {} : { COA_TRAINER_KEY: key }),
    },
  })
}

/** It has its own process group, which includes the processes of other GPUs. */
function killAll(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has already exited.
  }
  child.kill('SIGKILL')
}

function readyLine(path: string): Launched | undefined {
  const line = readFileSync(path, 'utf8').split('\n')
  return line.length > 1 ? (JSON.parse(line[0]!) as Launched) : undefined
}

function notStarted(why: string, log: string): EngineError {
  const last = (readFileSync(log, 'utf8').trim().split('\n').at(-1) ?? '').slice(-400)
  return new EngineError(`The trainer did not start: ${why}. ${last}`.trimEnd(), {
    fix: `See ${log}.`,
    details: { log },
  })
}

/** Locations of a managed trainer's files. */
export function trainerPaths(home: string): { python: string; data: string; log: string; running: string } {
  return {
    python: join(home, 'python'),
    data: join(home, 'data'),
    log: join(home, 'trainer.log'),
    running: join(home, 'running.json'),
  }
}
