import { type Limiter, limiter } from '../../../base/concurrency/index.ts'
import { SandboxError } from '../../../base/errors/index.ts'
import type { Language, ResolvedRequest, RunOptions, SandboxDriver, SandboxResult } from '../contract.ts'
import { WorkerProcess, type WorkerProgram } from './worker-process.ts'

/**
 * Keeps loaded worker processes, at most `size` of them running programs; further programs wait. Workers are started
 * on demand, and a killed one is replaced when the next run needs it. Trusted requests have their own workers, which
 * never run any other program.
 */
export class WorkerPool implements SandboxDriver {
  readonly name: WorkerProgram['driver']
  readonly languages: readonly Language[]
  readonly #program: WorkerProgram
  readonly #limited: Limiter
  readonly #idle: { trusted: WorkerProcess[]; other: WorkerProcess[] } = { trusted: [], other: [] }
  readonly #all = new Set<WorkerProcess>()
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  started = 0

  constructor(language: Language, program: WorkerProgram, size: number) {
    this.name = program.driver
    this.languages = [language]
    this.#program = program
    this.#limited = limiter(size)
  }

  run(request: ResolvedRequest, options: RunOptions = {}): Promise<SandboxResult> {
    if (!this.languages.includes(request.language)) {
      return Promise.reject(new SandboxError(`${this.name} does not run ${request.language}`))
    }
    const signal = AbortSignal.any([this.#closing.signal, ...(options.signal ? [options.signal] : [])])
    const run = this.#limited(() => this.#runInWorker(request, signal), signal)
    this.#running.add(run)
    return run.finally(() => this.#running.delete(run))
  }

  async #runInWorker(request: ResolvedRequest, signal: AbortSignal): Promise<SandboxResult> {
    const idle = request.trusted ? this.#idle.trusted : this.#idle.other
    const worker = await this.#takeWorker(idle, request.limits.memoryMb * 2 ** 20)
    try {
      signal.throwIfAborted()
      return await worker.run(request, signal)
    } finally {
      if (worker.alive) idle.push(worker)
      else this.#all.delete(worker)
    }
  }

  async #takeWorker(idle: WorkerProcess[], memoryBytes: number): Promise<WorkerProcess> {
    while (idle.length > 0) {
      const worker = idle.pop()!
      // Grown memory cannot shrink, and would give the next program more than its limit.
      if (worker.alive && worker.heapBytes <= memoryBytes) return worker
      this.#all.delete(worker)
      worker.kill()
    }
    const worker = await WorkerProcess.start(this.#program)
    this.#all.add(worker)
    this.started++
    return worker
  }

  async close(): Promise<void> {
    this.#closing.abort(new SandboxError('the sandbox was closed'))
    await Promise.allSettled(this.#running)
    await Promise.all([...this.#all].map((worker) => worker.close()))
  }
}
