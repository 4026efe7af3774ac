import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { type Limiter, limiter } from '../../../base/concurrency/index.ts'
import { SandboxError } from '../../../base/errors/index.ts'
import {
  type Language,
  type ResolvedRequest,
  type RunOptions,
  type SandboxDriver,
  SandboxRequest,
  type SandboxResult,
} from '../contract.ts'
import type { Setup } from './arguments.ts'
import { execute } from './execute.ts'
import { inspectInterpreter } from './inspect-interpreter.ts'
import { isWorldReadable, planMounts } from './mounts.ts'
import { type Stage, stageRoot, stageTools } from './stage.ts'

export interface BubblewrapOptions {
  /** The Python to use; by default `python3` on the PATH. Its installed packages can be imported. */
  python?: string
  /** The Node to use; by default the running one. */
  node?: string
  /** Maximum number of concurrent programs; by default the number of cores. */
  concurrency?: number
}

/**
 * Native Python 3 and Node in Linux namespaces, with a new process tree for each run.
 *
 * Inside the sandbox there is no network (only Unix and internet sockets, in a namespace with just a loopback
 * device), no host file except system libraries and the interpreter (read-only), only PATH, HOME and LANG in the
 * environment, and no other process. Memory, CPU time, processes, files and output are limited; the whole process
 * tree is killed at the time limits, when the program ends, and when this process ends.
 *
 * Not covered:
 * - Linux kernel vulnerabilities: the only system calls refused are sockets of other families and io_uring. Nested
 *   user namespaces are disabled.
 * - What the kernel reveals to everyone: CPU, memory and load of the host in /proc, names of mounted folders.
 * - Kernel memory behind many empty files, pipes or sockets, limited only by the file descriptor and wall time
 *   limits.
 * - The memory of a process tree is sampled every 100 ms, so it can briefly exceed twice the limit.
 * - Fair sharing of CPU time and memory bandwidth: programs slow each other down.
 * - Ended sandboxes are reaped by the system's init process; in a container without one, zombies remain (start it
 *   with `--init`).
 * - An exit code of 129 to 159 cannot be distinguished from death by signal and is reported as such.
 * - stdout is a socket: opening the path /dev/stdout fails; writing to descriptor 1 works.
 */
export class BubblewrapDriver implements SandboxDriver {
  readonly name = 'bubblewrap'
  readonly languages: readonly Language[]
  readonly versions: Partial<Record<Language, string>>
  readonly #setups: Map<Language, Setup>
  readonly #limited: Limiter
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(setups: Map<Language, Setup>, concurrency: number) {
    this.#setups = setups
    this.#limited = limiter(concurrency)
    this.languages = [...setups.keys()]
    this.versions = Object.fromEntries([...setups].map(([name, setup]) => [name, setup.interpreter.version]))
  }

  run(request: ResolvedRequest, options: RunOptions = {}): Promise<SandboxResult> {
    const setup = this.#setups.get(request.language)
    if (setup === undefined) {
      return Promise.reject(
        new SandboxError(`bubblewrap has no ${request.language} interpreter on this machine`),
      )
    }
    const signal = AbortSignal.any([this.#closing.signal, ...(options.signal ? [options.signal] : [])])
    const run = this.#limited(() => execute(setup, request, signal), signal)
    this.#running.add(run)
    return run.finally(() => this.#running.delete(run))
  }

  async close(): Promise<void> {
    this.#closing.abort(new SandboxError('the sandbox was closed'))
    await Promise.allSettled(this.#running)
  }
}

/** Finds the interpreters and runs a program with each; throws a SandboxError if something is missing. */
export async function openBubblewrap(
  languages: readonly Language[],
  options: BubblewrapOptions = {},
): Promise<BubblewrapDriver> {
  if (process.platform !== 'linux') throw new SandboxError('bubblewrap needs Linux')
  const tools = await findTools(['bwrap', 'prlimit', 'sh', ...stageTools])
  for (const name of ['bwrap', 'prlimit', 'sh']) {
    if (!tools.has(name)) {
      throw new SandboxError(`${name} is not on the PATH`, {
        fix: `Install ${name === 'bwrap' ? 'bubblewrap' : 'util-linux'} with the system's package manager.`,
      })
    }
  }
  const setups = new Map<Language, Setup>()
  for (const language of languages) {
    const command = language === 'python' ? (options.python ?? 'python3') : (options.node ?? process.execPath)
    const setup = await prepare(language, command, tools)
    await probe(setup)
    setups.set(language, setup)
  }
  return new BubblewrapDriver(setups, options.concurrency ?? availableParallelism())
}

async function prepare(language: Language, command: string, tools: Map<string, string>): Promise<Setup> {
  const interpreter = await inspectInterpreter(language, command)
  const mounts = planMounts(interpreter.paths, {
    '/bin/sh': tools.get('sh')!,
    '/bin/prlimit': tools.get('prlimit')!,
    ...(interpreter.mountedAt === undefined ? {} : { [interpreter.mountedAt]: interpreter.executable }),
  })
  const setup: Setup = { bwrap: tools.get('bwrap')!, interpreter, mounts }
  if (process.getuid?.() !== 0) return setup
  // A uid used by no one else: above every range that systems assign, and different for each coa process.
  const uid = 2_000_000_000 + (process.pid % 2 ** 20)
  if (mounts.every((mount) => mount.kind === 'link' || isWorldReadable(mount.source))) {
    return { ...setup, drop: { uid } }
  }
  const root = stageRoot(mounts)
  const missing = stageTools.filter((name) => !tools.has(name))
  if (root === undefined || missing.length > 0) {
    throw new SandboxError(`${interpreter.executable} is accessible only to root`, {
      fix: 'Run as another user, or configure an interpreter that other users can read.',
      details: { missing },
    })
  }
  const found = Object.fromEntries(stageTools.map((name) => [name, tools.get(name)!])) as Stage['tools']
  return { ...setup, drop: { uid, stage: { root, tools: found } } }
}

async function findTools(names: string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const name of names) {
    try {
      const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `command -v ${name}`])
      if (stdout.startsWith('/')) found.set(name, stdout.trim())
    } catch {
      // Not installed.
    }
  }
  return found
}

/** Many containers disable namespaces; only a real run can tell. */
async function probe(setup: Setup): Promise<void> {
  const language = setup.interpreter.language
  const code = language === 'python' ? 'print(6 * 7)' : 'console.log(6 * 7)'
  const request = SandboxRequest.parse({ language, code, limits: { wallMs: 20_000 } })
  const result = await execute(setup, request)
  if (result.stdout.trim() !== '42') {
    throw new SandboxError(`${language} failed to run in bubblewrap: ${result.stderr.trim().slice(0, 500)}`)
  }
}
