import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { SandboxError } from '../../../base/errors/index.ts'
import type { DriverName, ResolvedRequest, SandboxResult } from '../contract.ts'
import { maskInherited } from '../inherited-descriptors.ts'
import { ranOutOfMemory } from '../out-of-memory.ts'
import { OutputBuffer } from '../output-buffer.ts'
import { watchTree } from '../process-tree.ts'
import {
  FrameReader,
  frame,
  messageDescriptor,
  type WorkerReady,
  type WorkerRequest,
  type WorkerResult,
} from './protocol.ts'

export interface WorkerProgram {
  driver: DriverName
  /** Node flags, then the script and what it is given. */
  arguments(): Promise<string[]>
  /** Upper bound on the worker's memory beyond the program's. */
  baseMemoryMb: number
  startMs: number
  /** Extra time for a worker to enforce the wall limit itself. */
  graceMs: number
}

type Stop = 'wall' | 'memory' | 'abort'

/**
 * Processes that must not outlive this one. A single exit listener, because machines with many cores have many
 * workers.
 */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A process with a loaded interpreter. Runs one program at a time and is not reused once it was killed. */
export class WorkerProcess {
  readonly #process: ChildProcess
  readonly #program: WorkerProgram
  readonly #channel: Duplex
  readonly #exited: Promise<{ code: number | null; signal: string | null }>
  #stdout = new OutputBuffer(0)
  #stderr = new OutputBuffer(0)
  #onMessage: (message: unknown) => void = () => {}
  #onOutput: () => void = () => {}
  alive = true
  heapBytes = 0

  static async start(program: WorkerProgram): Promise<WorkerProcess> {
    const child = new WorkerProcess(program, await program.arguments())
    await child.#ready()
    return child
  }

  private constructor(program: WorkerProgram, args: string[]) {
    this.#program = program
    this.#process = spawn(process.execPath, args, {
      cwd: '/',
      env: {},
      stdio: maskInherited(['ignore', 'pipe', 'pipe', 'pipe']),
    })
    this.#channel = this.#process.stdio[messageDescriptor] as Duplex
    this.#channel.on('error', () => {})
    const reader = new FrameReader()
    this.#channel.on('data', (chunk: Buffer) => {
      for (const message of reader.push(chunk)) this.#onMessage(message)
    })
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout.push(chunk)
      this.#onOutput()
    })
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk)
      this.#onOutput()
    })
    this.#exited = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        this.alive = false
        resolve({ code, signal })
      }
      this.#process.once('close', end)
      this.#process.once('error', () => end(null, null))
    })
    const child = this.#process
    running.add(child)
    void this.#exited.then(() => running.delete(child))
  }

  async #ready(): Promise<void> {
    this.#stderr = new OutputBuffer(10_000)
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), this.#program.startMs)
    const message = await Promise.race([this.#next(), this.#exited])
    clearTimeout(timer)
    if (!('ready' in message)) {
      throw new SandboxError(`the ${this.#program.driver} sandbox failed to start`, {
        fix: 'Check that its package is installed and that this Node supports the permission model (22.13 or later).',
        details: { stderr: this.#stderr.text(), ...message },
      })
    }
    this.unref()
  }

  #next(): Promise<WorkerReady | WorkerResult> {
    return new Promise((resolve) => {
      this.#onMessage = (message) => resolve(message as WorkerReady | WorkerResult)
    })
  }

  /** An idle worker must not keep its parent alive. */
  unref(): void {
    this.#process.unref()
    for (const stream of this.#streams()) stream.unref?.()
  }

  #ref(): void {
    this.#process.ref()
    for (const stream of this.#streams()) stream.ref?.()
  }

  #streams(): Array<Partial<{ ref(): void; unref(): void }>> {
    return [this.#channel, this.#process.stdout, this.#process.stderr] as Array<Readable & { ref?(): void }>
  }

  async run(request: ResolvedRequest, signal?: AbortSignal): Promise<SandboxResult> {
    const { limits } = request
    const token = randomUUID()
    const stdout = new OutputBuffer(limits.outputBytes)
    const stderr = new OutputBuffer(limits.outputBytes)
    this.#stdout = stdout
    this.#stderr = stderr
    this.#ref()
    const started = performance.now()
    let stopped: Stop | undefined
    const stop = (reason: Stop): void => {
      stopped ??= reason
      this.alive = false
      this.#process.kill('SIGKILL')
    }
    const watch = watchTree(this.#process.pid ?? 0, (usage) => {
      if (usage.memoryBytes > (limits.memoryMb + this.#program.baseMemoryMb) * 2 ** 20) stop('memory')
    })
    const wall = setTimeout(() => stop('wall'), limits.wallMs + this.#program.graceMs)
    const abort = (): void => stop('abort')
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
    try {
      const answered = this.#answer(token)
      const { code, stdin, files } = request
      const { memoryMb, outputBytes, fileBytes, cpuMs, wallMs } = limits
      const message: WorkerRequest = {
        ...{ token, code, stdin, files },
        ...{ memoryMb, outputBytes, fileBytes, cpuMs, wallMs },
      }
      this.#channel.write(frame(message))
      const end = await Promise.race([answered, this.#exited])
      if (stopped === 'abort') throw signal?.reason
      const answer = 'token' in end && stopped === undefined ? end : undefined
      if (answer !== undefined) await this.#drained(answer)
      const exited = answer === undefined ? await this.#exited : undefined
      const exceeded =
        answer?.exceeded ?? (exited?.signal === 'SIGXCPU' ? 'cpu' : stopped === 'wall' ? 'wall' : undefined)
      return this.#result(answer, stopped, exceeded, performance.now() - started)
    } finally {
      clearTimeout(wall)
      watch.stop()
      signal?.removeEventListener('abort', abort)
      if (this.alive) this.unref()
    }
  }

  /** The result with this run's token; any other message means the worker cannot be trusted. */
  async #answer(token: string): Promise<WorkerResult> {
    const message = await this.#next()
    if ('token' in message && message.token === token) return message
    this.kill()
    return new Promise(() => {})
  }

  /** The pipes are separate, so a result can arrive before the output it refers to. */
  #drained({ stdoutBytes, stderrBytes }: WorkerResult): Promise<unknown> {
    const complete = new Promise<void>((resolve) => {
      this.#onOutput = () => {
        if (this.#stdout.seen >= stdoutBytes && this.#stderr.seen >= stderrBytes) resolve()
      }
      this.#onOutput()
    })
    return Promise.race([complete, this.#exited])
  }

  #result(
    answer: WorkerResult | undefined,
    stopped: Stop | undefined,
    exceeded: WorkerResult['exceeded'],
    ms: number,
  ): SandboxResult {
    const [stdout, stderr] = [this.#stdout, this.#stderr]
    const surplus =
      answer !== undefined && stdout.seen + stderr.seen > answer.stdoutBytes + answer.stderrBytes
    if (answer?.tainted || surplus) this.kill()
    this.heapBytes = answer?.heapBytes ?? 0
    const text = stderr.text()
    // A worker that ended by itself: either the program crashed it, or it crashed the program.
    const signal =
      answer === undefined
        ? stopped === undefined && exceeded === undefined
          ? 'SIGABRT'
          : 'SIGKILL'
        : answer.signal
    const exit = answer?.exit ?? null
    const outOfMemory = stopped === 'memory' || answer?.outOfMemory || ranOutOfMemory(exit, text)
    return {
      stdout: stdout.text(),
      stderr: text,
      exit,
      ...(signal === undefined ? {} : { signal }),
      timedOut: exceeded !== undefined,
      ...(exceeded === 'wall' ? { starved: true } : {}),
      truncated: answer?.truncated ?? (stdout.truncated || stderr.truncated),
      ...(outOfMemory ? { outOfMemory: true } : {}),
      ms,
      driver: this.#program.driver,
    }
  }

  kill(): void {
    this.alive = false
    this.#process.kill('SIGKILL')
  }

  async close(): Promise<void> {
    this.#ref()
    this.kill()
    await this.#exited
  }
}
