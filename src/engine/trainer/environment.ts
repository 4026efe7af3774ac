import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EngineError } from '../checkpoint/index.ts'
import { findPython, inspectPython, type PythonFacts } from './find-python.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { lastLines, runProgram } from './run-program.ts'
import { trainerSource } from './trainer-source.ts'

export interface EnvironmentOptions {
  /** Where the environment is, or is made. */
  folder: string
  say?: ((line: string) => void) | undefined
  signal?: AbortSignal | undefined
}

/** One release where there is no GPU, so that a build without CUDA that pip is pointed at is the one that is taken. */
const TORCH_WITHOUT_GPU = 'torch==2.13.0'
const READY = 'coa-ready.json'

/** The environment where it is there and whole. */
export function madeEnvironment(folder: string): { python: string; torch: string } | undefined {
  const ready = join(folder, READY)
  if (!existsSync(ready)) return undefined
  const { packages, torch } = JSON.parse(readFileSync(ready, 'utf8')) as { packages: string[]; torch: string }
  // Made for another version of the trainer: what it needs may have changed.
  if (JSON.stringify(packages) !== JSON.stringify(trainerSource().packages)) return undefined
  return { python: pythonIn(folder), torch }
}

/** The trainer's own Python, made on first use: torch, transformers and the rest, about a gigabyte. */
export async function ensureEnvironment({ folder, say, signal }: EnvironmentOptions): Promise<PythonFacts> {
  const made = madeEnvironment(folder)
  if (made !== undefined) return inspectPython(made.python)
  mkdirSync(dirname(folder), { recursive: true })
  return oneAtATime(`${folder}.lock`, () => makeEnvironment({ folder, say, signal }), {
    onWait: () => say?.('waiting for another process that makes the environment'),
    signal,
  })
}

async function makeEnvironment({ folder, say, signal }: EnvironmentOptions): Promise<PythonFacts> {
  const made = madeEnvironment(folder)
  if (made !== undefined) return inspectPython(made.python)
  const base = await findPython()
  const { packages } = trainerSource()
  rmSync(folder, { recursive: true, force: true })
  await step(say, `making an environment in ${folder}`, base, ['-m', 'venv', folder], signal)
  const python = pythonIn(folder)
  const hasCuda = (await runProgram('nvidia-smi', ['-L'])).code === 0
  const wanted = hasCuda
    ? packages
    : packages.map((name) => (/^torch\b/.test(name) ? TORCH_WITHOUT_GPU : name))
  // The large one alone, so that one sees what takes so long. What is imported is compiled then; all of it would take longer.
  const install = ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--no-compile']
  const isTorch = (name: string): boolean => /^torch\b/.test(name)
  for (const names of [wanted.filter(isTorch), wanted.filter((name) => !isTorch(name))])
    await step(say, `installing ${names.join(', ')}`, python, [...install, ...names], signal)
  const facts = await inspectPython(python)
  // Written when everything is in, so that half an environment is not taken for a whole one.
  writeFileSync(join(folder, READY), JSON.stringify({ packages, torch: facts.torch }))
  return facts
}

function pythonIn(folder: string): string {
  return process.platform === 'win32' ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python')
}

async function step(
  say: EnvironmentOptions['say'],
  title: string,
  command: string,
  args: string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  say?.(title)
  const result = await runProgram(command, args, { signal })
  signal?.throwIfAborted()
  if (result.code === 0) return
  throw new EngineError(`${title} failed: ${lastLines(result)}.`, {
    fix: 'Check the network and the free space, then start again; or name a Python that has everything with --python.',
  })
}
