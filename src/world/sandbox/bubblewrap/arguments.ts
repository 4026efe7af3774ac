import type { ResolvedRequest } from '../contract.ts'
import type { Interpreter } from './inspect-interpreter.ts'
import { type Mount, mountArguments } from './mounts.ts'
import { type Stage, stageCommand, stagedMount } from './stage.ts'
import { systemCallFilter } from './system-calls.ts'

/** Paths on this host for one language. */
export interface Setup {
  bwrap: string
  interpreter: Interpreter
  mounts: Mount[]
  /**
   * Root is exempt from the process limit, so when running as root, bwrap is started as an unprivileged user. `stage`
   * is set if that user could not reach the interpreter.
   */
  drop?: { uid: number; stage?: Stage }
}

/** File descriptors after the standard three, in the order they are passed to bwrap. */
export const statusDescriptor = 3
const filterDescriptor = 4
const firstFileDescriptor = 5

/** Node's own threads, which count toward RLIMIT_NPROC like processes. */
const nodeThreads = 24
/** V8's code range and the stacks of those threads: writable, and therefore counted, but mostly untouched. */
const nodeReserve = 704 * 2 ** 20
/** bwrap's init inside the sandbox. */
const ownProcesses = 1

export interface Invocation {
  command: string
  arguments: string[]
  /** What to write to each descriptor, starting with the fourth. */
  contents: Array<string | Buffer>
}

export function invocation(setup: Setup, request: ResolvedRequest): Invocation {
  const program = request.language === 'python' ? 'main.py' : 'main.js'
  const contents = [systemCallFilter(), request.stdin, request.code, ...Object.values(request.files)]
  const targets = [
    '/run/stdin',
    `/box/${program}`,
    ...Object.keys(request.files).map((path) => `/box/${path}`),
  ]
  const size = String(Math.max(4096, request.limits.fileBytes))
  const stage = setup.drop?.stage
  const inner = [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ...['--seccomp', String(filterDescriptor)],
    ...['--uid', '65534', '--gid', '65534', '--hostname', 'sandbox', '--clearenv'],
    ...['--setenv', 'PATH', '/usr/bin:/bin', '--setenv', 'HOME', '/box', '--setenv', 'LANG', 'C.UTF-8'],
    // Before the mounts, because an interpreter may be installed below a folder of the same name.
    ...['--size', size, '--tmpfs', '/tmp', '--size', size, '--tmpfs', '/box'],
    ...mountArguments(
      stage === undefined ? setup.mounts : setup.mounts.map((mount) => stagedMount(mount, stage)),
    ),
    // bwrap's /dev is a tmpfs without a size limit, so it is made read-only except for a bounded /dev/shm.
    ...['--proc', '/proc', '--dev', '/dev', '--size', size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...targets.flatMap((target, index) => [
      ...['--perms', '0644', '--file', String(firstFileDescriptor + index), target],
    ]),
    ...['--remount-ro', '/', '--chdir', '/box', '--json-status-fd', String(statusDescriptor), '--'],
    // A regular file as stdin can also be opened as /dev/stdin; a socket cannot.
    ...['/bin/sh', '-c', 'unset PWD; exec /bin/prlimit "$@" </run/stdin', 'sh', ...limitFlags(request), '--'],
    ...programCommand(setup.interpreter, request, program),
  ]
  if (setup.drop?.stage === undefined) return { command: setup.bwrap, arguments: inner, contents }
  const outer = stageCommand(setup.mounts, setup.drop.stage, setup.drop.uid)
  return { ...outer, arguments: [...outer.arguments, setup.bwrap, ...inner], contents }
}

function limitFlags({ language, limits }: ResolvedRequest): string[] {
  const memory = limits.memoryMb * 2 ** 20
  const threads = limits.processes + ownProcesses + (language === 'javascript' ? nodeThreads : 0)
  const cpuSeconds = Math.ceil(limits.cpuMs / 1000) + 1
  return [
    // V8 reserves far more address space than it uses, so only writable memory can be limited.
    language === 'python' ? `--as=${memory + 64 * 2 ** 20}` : `--data=${memory + nodeReserve}`,
    ...(language === 'python' ? [`--data=${memory}`] : []),
    `--nproc=${threads}`,
    // SIGXCPU first, SIGKILL a second later, in case the check from outside is late.
    `--cpu=${cpuSeconds}:${cpuSeconds + 1}`,
    `--fsize=${limits.fileBytes}`,
    '--nofile=256',
    '--core=0',
    '--msgqueue=0',
    '--memlock=65536',
  ]
}

function programCommand(interpreter: Interpreter, { limits }: ResolvedRequest, program: string): string[] {
  // Unbuffered, so that output printed before a kill is not lost.
  if (interpreter.language === 'python') return [interpreter.executable, '-B', '-u', '-s', program]
  return [interpreter.mountedAt ?? interpreter.executable, `--max-old-space-size=${limits.memoryMb}`, program]
}
