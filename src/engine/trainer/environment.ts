import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EngineError } from '../checkpoint/index.ts'
import { findPython, inspectPython, type PythonInfo } from './find-python.ts'
import { withLockFile } from './lock-file.ts'
import { lastLines, runProgram } from './run-program.ts'
import { trainerSource } from './trainer-source.ts'

export interface EnvironmentOptions {
  /** Location of the environment, which is created if missing. */
  folder: string
  onStatus?: ((line: string) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Pinned without a GPU, so that pip takes the CPU build it is pointed to. */
const TORCH_WITHOUT_GPU = 'torch==2.13.0'
const READY = 'coa-ready.json'

/** The environment, if it exists and is complete. */
export function existingEnvironment(folder: string): { python: string; torch: string } | undefined {
  const ready = join(folder, READY)
  if (!existsSync(ready)) return undefined
  const { packages, torch } = JSON.parse(readFileSync(ready, 'utf8')) as { packages: string[]; torch: string }
  // Created for another version of the trainer, whose dependencies may differ.
  if (JSON.stringify(packages) !== JSON.stringify(trainerSource().packages)) return undefined
  return { python: pythonIn(folder), torch }
}

/** The trainer's Python environment, created on first use: torch, transformers and the rest, about a gigabyte. */
export async function ensureEnvironment({
  folder,
  onStatus,
  signal,
}: EnvironmentOptions): Promise<PythonInfo> {
  const made = existingEnvironment(folder)
  if (made !== undefined) return inspectPython(made.python)
  mkdirSync(dirname(folder), { recursive: true })
  return withLockFile(`${folder}.lock`, () => createEnvironment({ folder, onStatus, signal }), {
    onWait: () => onStatus?.('waiting for another process that is creating the environment'),
    signal,
  })
}

async function createEnvironment({ folder, onStatus, signal }: EnvironmentOptions): Promise<PythonInfo> {
  const made = existingEnvironment(folder)
  if (made !== undefined) return inspectPython(made.python)
  const base = await findPython()
  const { packages } = trainerSource()
  rmSync(folder, { recursive: true, force: true })
  await step(onStatus, `creating an environment in ${folder}`, base, ['-m', 'venv', folder], signal)
  const python = pythonIn(folder)
  const hasCuda = (await runProgram('nvidia-smi', ['-L'])).code === 0
  const wanted = hasCuda
    ? packages
    : packages.map((name) => (/^torch\b/.test(name) ? TORCH_WITHOUT_GPU : name))
  // torch separately, to show what takes so long. Modules are compiled on import; compiling all would take longer.
  const install = ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--no-compile']
  const isTorch = (name: string): boolean => /^torch\b/.test(name)
  for (const names of [wanted.filter(isTorch), wanted.filter((name) => !isTorch(name))])
    await step(onStatus, `installing ${names.join(', ')}`, python, [...install, ...names], signal)
  const info = await inspectPython(python, { load: true })
  // Written last, so that an incomplete environment is never used.
  writeFileSync(join(folder, READY), JSON.stringify({ packages, torch: info.torch }))
  return info
}

function pythonIn(folder: string): string {
  return process.platform === 'win32' ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python')
}

async function step(
  onStatus: EnvironmentOptions['onStatus'],
  title: string,
  command: string,
  args: string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  onStatus?.(title)
  const result = await runProgram(command, args, { signal })
  signal?.throwIfAborted()
  if (result.code === 0) return
  throw new EngineError(`${title} failed: ${lastLines(result)}.`, {
    fix: 'Check the network and free disk space, then try again; or pass a Python that has everything with --python.',
  })
}
