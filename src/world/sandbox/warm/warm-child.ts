import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { SandboxError } from '../../../base/errors/index.ts'
import type { DriverName, ResolvedRequest, SandboxResult } from '../contract.ts'
import { withoutInherited } from '../inherited-descriptors.ts'
import { KeptOutput } from '../kept-output.ts'
import { diedOfMemory } from '../out-of-memory.ts'
import { watchTree } from '../process-tree.ts'
import {
  type ChildAnswer,
  type ChildReady,
  type ChildRequest,
  FrameReader,
  frame,
  messageDescriptor,
} from './protocol.ts'

export interface ChildProgram {
  driver: DriverName
  /** Flags of Node, then the script. */
  arguments: string[]
  /** What the child uses beside the program's memory, at most. */
  baseMemoryMb: number
  startMs: number
  /** How long a child that keeps the wall limit itself may be late. */
  graceMs: number
}

type Stop = 'wall' | 'memory' | 'abort'

/** What must not outlive this process. One listener for all: machines with many cores have many of them. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** One process with a loaded interpreter. Runs one program at a time; when it was killed it is not used again. */
export class WarmChild {
  readonly #process: ChildProcess
  readonly #program: ChildProgram
  readonly #channel: Duplex
  readonly #gone: Promise<{ code: number | null; signal: string | null }>
  #stdout = new KeptOutput(0)
  #stderr = new KeptOutput(0)
  #heard: (message: unknown) => void = () => {}
  #wrote: () => void = () => {}
  alive = true
  heapBytes = 0
  version = ''

  static async start(program: ChildProgram): Promise<WarmChild> {
    const child = new WarmChild(program)
    await child.#ready()
    return child
  }

  private constructor(program: ChildProgram) {
    this.#program = program
    this.#process = spawn(process.execPath, program.arguments, {
      cwd: '/',
      env: {},
      stdio: withoutInherited(['ignore', 'pipe', 'pipe', 'pipe']),
    })
    this.#channel = this.#process.stdio[messageDescriptor] as Duplex
    this.#channel.on('error', () => {})
    const reader = new FrameReader()
    this.#channel.on('data', (chunk: Buffer) => {
      for (const message of reader.push(chunk)) this.#heard(message)
    })
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout.push(chunk)
      this.#wrote()
    })
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk)
      this.#wrote()
    })
    this.#gone = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        this.alive = false
        resolve({ code, signal })
      }
      this.#process.once('close', end)
      this.#process.once('error', () => end(null, null))
    })
    const child = this.#process
    running.add(child)
    void this.#gone.then(() => running.delete(child))
  }

  async #ready(): Promise<void> {
    this.#stderr = new KeptOutput(10_000)
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), this.#program.startMs)
    const message = await Promise.race([this.#next(), this.#gone])
    clearTimeout(timer)
    if (!('ready' in message)) {
      throw new SandboxError(`the ${this.#program.driver} sandbox does not start`, {
        fix: 'Check that its package is installed and that this Node knows the permission model (22.13 or later).',
        details: { stderr: this.#stderr.text(), ...message },
      })
    }
    this.version = message.version
    this.rest()
  }

  #next(): Promise<ChildReady | ChildAnswer> {
    return new Promise((resolve) => {
      this.#heard = (message) => resolve(message as ChildReady | ChildAnswer)
    })
  }

  /** An idle child must not keep its parent from ending. */
  rest(): void {
    this.#process.unref()
    for (const stream of this.#streams()) stream.unref?.()
  }

  #wake(): void {
    this.#process.ref()
    for (const stream of this.#streams()) stream.ref?.()
  }

  #streams(): Array<Partial<{ ref(): void; unref(): void }>> {
    return [this.#channel, this.#process.stdout, this.#process.stderr] as Array<Readable & { ref?(): void }>
  }

  async run(request: ResolvedRequest, signal?: AbortSignal): Promise<SandboxResult> {
    const { limits } = request
    const token = randomUUID()
    const stdout = new KeptOutput(limits.outputBytes)
    const stderr = new KeptOutput(limits.outputBytes)
    this.#stdout = stdout
    this.#stderr = stderr
    this.#wake()
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
      const message: ChildRequest = {
        ...{ token, code, stdin, files },
        ...{ memoryMb, outputBytes, fileBytes, cpuMs, wallMs },
      }
      this.#channel.write(frame(message))
      const end = await Promise.race([answered, this.#gone])
      if (stopped === 'abort') throw signal?.reason
      const answer = 'token' in end && stopped === undefined ? end : undefined
      if (answer !== undefined) await this.#drained(answer)
      const gone = answer === undefined ? await this.#gone : undefined
      const late =
        answer?.late ?? (gone?.signal === 'SIGXCPU' ? 'cpu' : stopped === 'wall' ? 'wall' : undefined)
      return this.#result(answer, stopped, late, performance.now() - started)
    } finally {
      clearTimeout(wall)
      watch.stop()
      signal?.removeEventListener('abort', abort)
      if (this.alive) this.rest()
    }
  }

  /** The answer that carries the run's token; any other message means the child cannot be trusted. */
  async #answer(token: string): Promise<ChildAnswer> {
    const message = await this.#next()
    if ('token' in message && message.token === token) return message
    this.kill()
    return new Promise(() => {})
  }

  /** The pipes are apart: an answer can overtake the output it speaks of. */
  #drained({ stdoutBytes, stderrBytes }: ChildAnswer): Promise<unknown> {
    const complete = new Promise<void>((resolve) => {
      this.#wrote = () => {
        if (this.#stdout.seen >= stdoutBytes && this.#stderr.seen >= stderrBytes) resolve()
      }
      this.#wrote()
    })
    return Promise.race([complete, this.#gone])
  }

  #result(
    answer: ChildAnswer | undefined,
    stopped: Stop | undefined,
    late: ChildAnswer['late'],
    ms: number,
  ): SandboxResult {
    const [stdout, stderr] = [this.#stdout, this.#stderr]
    const surplus =
      answer !== undefined && stdout.seen + stderr.seen > answer.stdoutBytes + answer.stderrBytes
    if (answer?.spent || surplus) this.kill()
    this.heapBytes = answer?.heapBytes ?? 0
    const text = stderr.text()
    // A child that went down by itself took the program with it, or the other way round.
    const signal =
      answer === undefined
        ? stopped === undefined && late === undefined
          ? 'SIGABRT'
          : 'SIGKILL'
        : answer.signal
    const exit = answer?.exit ?? null
    const outOfMemory = stopped === 'memory' || answer?.outOfMemory || diedOfMemory(exit, text)
    return {
      stdout: stdout.text(),
      stderr: text,
      exit,
      ...(signal === undefined ? {} : { signal }),
      timedOut: late !== undefined,
      ...(late === 'wall' ? { starved: true } : {}),
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
    this.#wake()
    this.kill()
    await this.#gone
  }
}
