import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { SandboxError } from '../../../base/errors/index.ts'
import type { ResolvedRequest, SandboxResult } from '../contract.ts'
import { maskInherited } from '../inherited-descriptors.ts'
import { ranOutOfMemory } from '../out-of-memory.ts'
import { OutputBuffer } from '../output-buffer.ts'
import { watchTree } from '../process-tree.ts'
import { sleepAllowance } from '../time-limits.ts'
import { invocation, type Setup, statusDescriptor } from './arguments.ts'

/** Some signal numbers have two names; the first is the usual one. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
)

/** How long a kill waits for bwrap to report the first process of the sandbox. */
const startGraceMs = 2_000

/** Runs one program in its own process tree and returns once no process is left. */
export async function execute(
  setup: Setup,
  request: ResolvedRequest,
  signal?: AbortSignal,
): Promise<SandboxResult> {
  const { command, arguments: flags, contents } = invocation(setup, request)
  const { limits } = request
  const started = performance.now()
  const dropsDirectly = setup.drop !== undefined && setup.drop.stage === undefined
  const child = spawn(command, flags, {
    cwd: '/',
    // This is also what /proc/1/environ shows inside.
    env: {},
    stdio: maskInherited(['ignore', 'pipe', 'pipe', 'pipe', ...contents.map(() => 'pipe' as const)]),
    ...(dropsDirectly ? { uid: setup.drop!.uid, gid: setup.drop!.uid } : {}),
  })
  contents.forEach((text, index) => {
    const input = child.stdio[statusDescriptor + 1 + index] as Writable
    // A sandbox killed during setup does not read its input to the end.
    input.on('error', () => {})
    input.end(text)
  })

  let stopped: 'wall' | 'cpu' | 'memory' | 'flood' | 'abort' | undefined
  let status = ''
  let ended = false
  let first: number | undefined
  let watch: { stop(): void } | undefined
  const kill = (): void => {
    if (ended) return
    if (first !== undefined) killIfAlive(first)
    child.kill('SIGKILL')
  }
  const stop = (reason: NonNullable<typeof stopped>): void => {
    if (stopped !== undefined || ended) return
    stopped = reason
    // Until the first process is known, it may not yet be tied to bwrap and could outlive it.
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
    let checkedAt = performance.now()
    watch = watchTree(first, (usage) => {
      const now = performance.now()
      if (!usage.isAwake) sleptMs += now - checkedAt
      checkedAt = now
      if (usage.memoryBytes > 2 * limits.memoryMb * 2 ** 20) stop('memory')
      else if (usage.cpuMs > limits.cpuMs || sleptMs > sleepAllowance * limits.cpuMs) stop('cpu')
    })
  })

  const stdout = new OutputBuffer(limits.outputBytes)
  const stderr = new OutputBuffer(limits.outputBytes)
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
        reject(new SandboxError('bubblewrap failed to start', { cause, details: { command } })),
      )
    })
    if (stopped === 'abort') throw signal?.reason
    const text = stderr.text()
    // Without an exit code, bwrap itself failed before running the program.
    if (stopped === undefined && !/"exit-code"/.test(status)) {
      throw new SandboxError(`bubblewrap failed: ${text.trim() || `exit ${code}`}`, {
        fix: 'Check that user namespaces are enabled, or use the pyodide and quickjs drivers.',
      })
    }
    const signalName = stopped !== undefined ? 'SIGKILL' : signalNames.get((code ?? 0) - 128)
    const exit = signalName === undefined ? code : null
    const outOfMemory = stopped === 'memory' || (stopped === undefined && ranOutOfMemory(exit, text))
    return {
      stdout: stdout.text(),
      stderr: text,
      exit,
      ...(signalName === undefined ? {} : { signal: signalName }),
      timedOut: stopped === 'wall' || stopped === 'cpu' || signalName === 'SIGXCPU',
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

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}
