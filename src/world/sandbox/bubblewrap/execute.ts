import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { SandboxError } from '../../../base/errors/index.ts'
import type { ResolvedRequest, SandboxResult } from '../contract.ts'
import { withoutInherited } from '../inherited-descriptors.ts'
import { KeptOutput } from '../kept-output.ts'
import { diedOfMemory } from '../out-of-memory.ts'
import { watchTree } from '../process-tree.ts'
import { sleepAllowance } from '../time-limits.ts'
import { invocation, type Setup, statusDescriptor } from './arguments.ts'

/** Some numbers have two names; the first is the usual one. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
)

/** How long a kill waits for bwrap to say which process is the sandbox's first. */
const startGraceMs = 2_000

/** Runs one program in a tree of processes of its own, and returns when none of them is left. */
export async function execute(
  setup: Setup,
  request: ResolvedRequest,
  signal?: AbortSignal,
): Promise<SandboxResult> {
  const { command, arguments: flags, contents } = invocation(setup, request)
  const { limits } = request
  const started = performance.now()
  const direct = setup.drop !== undefined && setup.drop.stage === undefined
  const child = spawn(command, flags, {
    cwd: '/',
    // Also what /proc/1/environ shows inside.
    env: {},
    stdio: withoutInherited(['ignore', 'pipe', 'pipe', 'pipe', ...contents.map(() => 'pipe' as const)]),
    ...(direct ? { uid: setup.drop!.uid, gid: setup.drop!.uid } : {}),
  })
  contents.forEach((text, index) => {
    const input = child.stdio[statusDescriptor + 1 + index] as Writable
    // A sandbox that was killed while it was set up does not read to the end.
    input.on('error', () => {})
    input.end(text)
  })

  let stopped: 'wall' | 'own time' | 'memory' | 'flood' | 'abort' | undefined
  let status = ''
  let ended = false
  let first: number | undefined
  let watch: { stop(): void } | undefined
  const kill = (): void => {
    if (ended) return
    if (first !== undefined) killQuietly(first)
    child.kill('SIGKILL')
  }
  const stop = (reason: NonNullable<typeof stopped>): void => {
    if (stopped !== undefined || ended) return
    stopped = reason
    // Until the first process is known, its tie to bwrap may not be made yet and it could outlive bwrap.
    if (first === undefined) setTimeout(kill, startGraceMs).unref()
    else kill()
  }
  ;(child.stdio[statusDescriptor] as Readable).on('data', (chunk: Buffer) => {
    status += chunk.toString('utf8')
    const pid = /"child-pid":\s*(\d+)/.exec(status)?.[1]
    if (first !== undefined || pid === undefined) return
    first = Number(pid)
    if (stopped !== undefined) kill()
    let sleptMs = 0
    let looked = performance.now()
    watch = watchTree(first, (usage) => {
      const now = performance.now()
      if (!usage.isAwake) sleptMs += now - looked
      looked = now
      if (usage.memoryBytes > 2 * limits.memoryMb * 2 ** 20) stop('memory')
      else if (usage.cpuMs > limits.cpuMs || sleptMs > sleepAllowance * limits.cpuMs) stop('own time')
    })
  })

  const stdout = new KeptOutput(limits.outputBytes)
  const stderr = new KeptOutput(limits.outputBytes)
  for (const [stream, kept] of [
    [child.stdout, stdout],
    [child.stderr, stderr],
  ] as const) {
    stream?.on('data', (chunk: Buffer) => {
      kept.push(chunk)
      if (kept.flooding) stop('flood')
    })
  }

  const wall = setTimeout(() => stop('wall'), limits.wallMs)
  const abort = (): void => stop('abort')
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('exit', () => {
        ended = true
      })
      child.once('close', resolve)
      child.once('error', (cause) =>
        reject(new SandboxError('bubblewrap cannot be started', { cause, details: { command } })),
      )
    })
    if (stopped === 'abort') throw signal?.reason
    const text = stderr.text()
    // Without an exit code of the program bwrap failed before it, and said why.
    if (stopped === undefined && !/"exit-code"/.test(status)) {
      throw new SandboxError(`bubblewrap failed: ${text.trim() || `exit ${code}`}`, {
        fix: 'Check that user namespaces are allowed here, or use the drivers pyodide and quickjs.',
      })
    }
    const signalName = stopped !== undefined ? 'SIGKILL' : signalNames.get((code ?? 0) - 128)
    const exit = signalName === undefined ? code : null
    const outOfMemory = stopped === 'memory' || (stopped === undefined && diedOfMemory(exit, text))
    return {
      stdout: stdout.text(),
      stderr: text,
      exit,
      ...(signalName === undefined ? {} : { signal: signalName }),
      timedOut: stopped === 'wall' || stopped === 'own time' || signalName === 'SIGXCPU',
      ...(stopped === 'wall' ? { starved: true } : {}),
      truncated: stdout.truncated || stderr.truncated,
      ...(outOfMemory ? { outOfMemory } : {}),
      ms: performance.now() - started,
      driver: 'bubblewrap',
    }
  } finally {
    clearTimeout(wall)
    watch?.stop()
    signal?.removeEventListener('abort', abort)
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}
