import { Worker } from 'node:worker_threads'

export interface WorkLimits {
  /** For one piece of work, once the thread has loaded its libraries. */
  workMs: number
  /** JavaScript objects of the thread. */
  heapMb: number
  /** What the thread holds beside its heap: buffers, which `resourceLimits` does not count. */
  buffersMb: number
}

/** What a worker sends: `ready` once; then for each request any number of parts and one result. */
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

/** Loading a library takes most of a second, more on a busy machine. */
const START_MS = 15_000
const LOOK_EVERY_MS = 20
const MEGABYTE = 2 ** 20

/**
 * A thread that does one piece of work after another, for libraries that a small hostile file can keep busy for hours or
 * make fill the memory. Work that goes over a limit is stopped with its thread; the next work gets a new one.
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

  /** `name` is the file of the worker in this folder, without its ending. */
  constructor(name: string, limits: WorkLimits) {
    this.#name = name
    this.#limits = limits
  }

  /** Rejects where a limit was reached or the thread failed; the message completes "the work …". */
  run(request: Request, signal?: AbortSignal, onPart: (part: Part) => void = () => {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ id: ++this.#lastId, request, signal, onPart, resolve, reject })
      this.#startNext()
    })
  }

  #startNext(): void {
    if (this.#running !== undefined) return
    let job = this.#queue.shift()
    // Work that nobody waits for any more must not hold up the rest.
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
    this.#watch = setInterval(() => void this.#checkBuffers(), LOOK_EVERY_MS)
    this.#worker.postMessage({ id: job.id, request: job.request })
  }

  #limitTime(): void {
    clearTimeout(this.#timer)
    const ms = this.#isReady ? this.#limits.workMs : START_MS
    this.#timer = setTimeout(() => this.#stop(`took longer than ${ms / 1000} s`), ms)
  }

  #start(): Worker {
    // The same file as source and as build: only the ending differs.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const started = new Worker(new URL(`./${this.#name}.${ending}`, import.meta.url), {
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

  /** Asks the thread, which answers even in the midst of a loop. */
  async #checkBuffers(): Promise<void> {
    const asked = this.#worker
    const statistics = await asked?.getHeapStatistics().catch(() => undefined)
    if (asked !== this.#worker || statistics === undefined) return
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
    // Once the caller has taken the result.
    queueMicrotask(() => this.#startNext())
    return job
  }
}
