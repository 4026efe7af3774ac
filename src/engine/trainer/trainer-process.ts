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
  /** What it prints on the way goes here. */
  log: string
  /** 0 or left out: a free one. */
  port?: number | undefined
  host?: string | undefined
  key?: string | undefined
  device?: string | undefined
  /** With more than one, models are spread over them. */
  gpus?: number | undefined
  /** Further arguments, as the trainer itself takes them. */
  more?: readonly string[] | undefined
  say?: ((line: string) => void) | undefined
  signal?: AbortSignal | undefined
}

export interface Launched {
  url: string
  device: string
  dtype: string
  pid: number
}

/** Loading weights of a large model from a slow disk takes long. */
const START_MS = 30 * 60_000

/** Starts a trainer that outlives this process, and waits until it answers. */
export async function launchTrainer(options: LaunchOptions): Promise<Launched> {
  const { signal, say, log } = options
  const outputs = `${log}.out`
  const child = start(options, outputs)
  const began = performance.now()
  let told = began
  let ended: string | undefined
  child.on('error', (cause) => {
    ended = cause.message
  })
  child.on('exit', (code, killer) => {
    ended ??= killer === null ? `it ended with code ${code}` : `it was ended by ${killer}`
  })
  try {
    for (;;) {
      signal?.throwIfAborted()
      const ready = readyLine(outputs)
      if (ready !== undefined) return ready
      if (ended !== undefined) throw notStarted(ended, log)
      const now = performance.now()
      if (now - began > START_MS) throw notStarted('it did not answer within half an hour', log)
      if (now - told > 5_000) {
        told = now
        say?.(`waiting for the trainer, ${Math.round((now - began) / 1000)} s`)
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
      // Not among the arguments, which everyone on the machine can read.
      ...(key === undefined ? {} : { COA_TRAINER_KEY: key }),
    },
  })
}

/** It was started with a group of its own, to which the processes of other GPUs belong. */
function killAll(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
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
    fix: `The whole story is in ${log}.`,
    details: { log },
  })
}

/** Where the pieces of a trainer that is managed here lie. */
export function trainerPaths(home: string): { python: string; data: string; log: string; running: string } {
  return {
    python: join(home, 'python'),
    data: join(home, 'data'),
    log: join(home, 'trainer.log'),
    running: join(home, 'running.json'),
  }
}
