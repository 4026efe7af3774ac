import { Worker } from 'node:worker_threads'

export interface WorkLimits {
  /** Per job, once the thread has loaded its libraries. */
  workMs: number
  /** JavaScript heap of the thread. */
  heapMb: number
  /** Buffers outside the heap, which `resourceLimits` does not count. */
  buffersMb: number
}

/** Messages from a worker: `ready` once; then for each request any number of parts and one result. */
export type WorkerMessage<Part, Result> =
  | { ready: true }
  | { id: number; part: Part }
  | { id: number; result: Result }

interface Job<Request, Part, Result> {
  id: number
  request: Request
  signal: AbortSignal | undefined
  onPart: (part: Part) => void
  resolve: (result: Result) => void
  reject: (error: Error) => void
}

/** Loading a library takes up to a second, more on a busy machine. */
const START_MS = 15_000
const CHECK_INTERVAL_MS = 20
const MEGABYTE = 2 ** 20

/**
 * A worker thread that runs one job at a time, for libraries that a small hostile file can keep busy for hours or
 * make exhaust memory. A job that exceeds a limit is stopped with its thread; the next job gets a new one.
 */
export class LimitedWorker<Request, Part, Result> {
  readonly #name: string
  readonly #limits: WorkLimits
  readonly #queue: Job<Request, Part, Result>[] = []
  #worker: Worker | undefined
  #isReady = false
  #running: Job<Request, Part, Result> | undefined
  #timer: NodeJS.Timeout | undefined
  #watch: NodeJS.Timeout | undefined
  #lastId = 0

  /** `name` is the worker's file in this folder, without its extension. */
  constructor(name: string, limits: WorkLimits) {
    this.#name = name
    this.#limits = limits
  }

  /** Rejects if a limit was reached or the thread failed; the message completes "the job …". */
  run(request: Request, signal?: AbortSignal, onPart: (part: Part) => void = () => {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ id: ++this.#lastId, request, signal, onPart, resolve, reject })
      this.#startNext()
    })
  }

  #startNext(): void {
    if (this.#running !== undefined) return
    let job = this.#queue.shift()
    // Jobs that were aborted while waiting.
    while (job?.signal?.aborted === true) {
      job.reject(job.signal.reason)
      job = this.#queue.shift()
    }
    if (job === undefined) {
      // An idle thread must not keep the process alive.
      this.#worker?.unref()
      return
    }
    this.#running = job
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#limitTime()
    this.#watch = setInterval(() => void this.#checkBuffers(), CHECK_INTERVAL_MS)
    this.#worker.postMessage({ id: job.id, request: job.request })
  }

  #limitTime(): void {
    clearTimeout(this.#timer)
    const ms = this.#isReady ? this.#limits.workMs : START_MS
    this.#timer = setTimeout(() => this.#stop(`took longer than ${ms / 1000} s`), ms)
  }

  #start(): Worker {
    // The sources and the build differ only in the extension.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const started = new Worker(new URL(`./${this.#name}.${extension}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMb },
    })
    started.on('message', (message: WorkerMessage<Part, Result>) => {
      if (started !== this.#worker) return
      if ('ready' in message) {
        this.#isReady = true
        this.#limitTime()
      } else if (message.id === this.#running?.id) {
        if ('part' in message) this.#running.onPart(message.part)
        else this.#settle().resolve(message.result)
      }
    })
    started.on('error', (error: NodeJS.ErrnoException) => {
      if (started !== this.#worker) return
      this.#stop(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'needs too much memory' : `failed: ${error.message}`,
      )
    })
    return started
  }

  /** The thread answers even in the middle of a loop. */
  async #checkBuffers(): Promise<void> {
    const worker = this.#worker
    const statistics = await worker?.getHeapStatistics().catch(() => undefined)
    if (worker !== this.#worker || statistics === undefined) return
    const held = statistics.external_memory / MEGABYTE
    if (held > this.#limits.buffersMb) this.#stop('needs too much memory')
  }

  #stop(reason: string): void {
    void this.#worker?.terminate()
    this.#worker = undefined
    this.#isReady = false
    if (this.#running !== undefined) this.#settle().reject(new Error(reason))
  }

  #settle(): Job<Request, Part, Result> {
    clearTimeout(this.#timer)
    clearInterval(this.#watch)
    const job = this.#running!
    this.#running = undefined
    // After the caller has received the result.
    queueMicrotask(() => this.#startNext())
    return job
  }
}
