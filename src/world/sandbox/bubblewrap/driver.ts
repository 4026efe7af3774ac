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
import { askInterpreter } from './interpreter.ts'
import { openToOthers, planMounts } from './mounts.ts'
import { type Stage, stageRoot, stageTools } from './stage.ts'

export interface BubblewrapOptions {
  /** The Python to use; `python3` of the PATH otherwise. Its installed packages can be imported. */
  python?: string
  /** The Node to use; the running one otherwise. */
  node?: string
  /** Programs at the same time; as many as there are cores otherwise. */
  concurrency?: number
}

/**
 * Native Python 3 and Node in Linux namespaces, a fresh tree of processes for each run.
 *
 * Inside there is no network (sockets of the Unix and internet families only, in a namespace with nothing but its own
 * loopback), no file of the host but the system's libraries and the interpreter (read-only), an environment of PATH,
 * HOME and LANG, and no other process. Memory, processor time, processes, files and output are bounded; the whole tree
 * dies at the time limits, when the program ends, and with this process.
 *
 * Not covered:
 * - Faults of the Linux kernel: of its system calls only sockets of other families and io_uring are refused. Nested
 *   user namespaces are off.
 * - What the kernel tells everyone: processor, memory and load of the host in /proc, names of mounted folders.
 * - Kernel memory behind many empty files, pipes or sockets, bounded only by the file-descriptor and wall limits.
 * - Memory of a tree of processes is sampled every 100 ms, so it can be above twice the limit for a moment.
 * - Fair shares of the processors and of memory bandwidth: programs slow each other down.
 * - Ended sandboxes are collected by the system's first process; in a container whose own does not, zombies remain
 *   (start it with `--init`).
 * - An exit code of 129 to 159 cannot be told from a death by signal and is reported as that.
 * - stdout is a socket: opening the path /dev/stdout fails, writing to descriptor 1 does not.
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
      return Promise.reject(new SandboxError(`bubblewrap has no interpreter for ${request.language} here`))
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

/** Finds the interpreters and runs a program with each; throws a SandboxError that says what is missing. */
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
  const interpreter = await askInterpreter(language, command)
  const mounts = planMounts(interpreter.paths, {
    '/bin/sh': tools.get('sh')!,
    '/bin/prlimit': tools.get('prlimit')!,
    ...(interpreter.shownAt === undefined ? {} : { [interpreter.shownAt]: interpreter.executable }),
  })
  const setup: Setup = { bwrap: tools.get('bwrap')!, interpreter, mounts }
  if (process.getuid?.() !== 0) return setup
  // A user no one else is: above every range that systems hand out, apart for each process of coa.
  const uid = 2_000_000_000 + (process.pid % 2 ** 20)
  if (mounts.every((mount) => mount.kind === 'link' || openToOthers(mount.source))) {
    return { ...setup, drop: { uid } }
  }
  const root = stageRoot(mounts)
  const missing = stageTools.filter((name) => !tools.has(name))
  if (root === undefined || missing.length > 0) {
    throw new SandboxError(`${interpreter.executable} can be reached by root only`, {
      fix: 'Run as another user, or name an interpreter that others can read.',
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
      // Not there.
    }
  }
  return found
}

/** Namespaces are switched off in many containers; only a real run tells. */
async function probe(setup: Setup): Promise<void> {
  const language = setup.interpreter.language
  const code = language === 'python' ? 'print(6 * 7)' : 'console.log(6 * 7)'
  const request = SandboxRequest.parse({ language, code, limits: { wallMs: 20_000 } })
  const result = await execute(setup, request)
  if (result.stdout.trim() !== '42') {
    throw new SandboxError(`${language} does not run in bubblewrap: ${result.stderr.trim().slice(0, 500)}`)
  }
}
