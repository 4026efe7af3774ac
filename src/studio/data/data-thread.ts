import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { LiveChange } from '../api.ts'
import { Problem } from '../problem.ts'
import type { FromThread, ToThread } from './messages.ts'
import type { ReaderOptions, RunEndpoint } from './readers.ts'
import type { JobsByRun } from './runs.ts'

interface Waiting {
  resolve: (json: string) => void
  reject: (problem: Problem) => void
}

/** The thread that reads runs, from the server's side. If it ends, the next request starts another. */
export class DataThread {
  readonly #options: ReaderOptions
  readonly #onChanges: (changes: LiveChange[]) => void
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #requests = 0

  constructor(options: ReaderOptions, onChanges: (changes: LiveChange[]) => void) {
    this.#options = options
    this.#onChanges = onChanges
  }

  /** Waits until it can read, so that the first page does not have to. */
  async start(): Promise<void> {
    const worker = this.#worker ?? this.#start()
    this.#worker = worker
    await once(worker, 'message')
  }

  /** The reply as JSON. */
  read(
    endpoint: RunEndpoint,
    names: readonly string[],
    query: Readonly<Record<string, string>>,
    jobs: JobsByRun,
    body?: unknown,
  ): Promise<string> {
    const id = ++this.#requests
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#post({ type: 'read', id, endpoint, names, query, jobs, body })
    })
  }

  watch(runs: readonly string[], isAnyone: boolean, jobs: JobsByRun): void {
    this.#post({ type: 'watch', runs, isAnyone, jobs })
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage({ type: 'close' } satisfies ToThread)
    await ended
  }

  #post(message: ToThread): void {
    this.#worker ??= this.#start()
    this.#worker.postMessage(message)
  }

  #start(): Worker {
    // The same file in source and build; only the extension differs.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`./worker.${ending}`, import.meta.url), {
      workerData: this.#options,
      // Records are large and soon forgotten; young space would grow with them.
      resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 },
    })
    worker.on('message', (message: FromThread) => this.#received(message))
    worker.on('error', (error) => this.#ended(worker, error.message))
    worker.on('exit', () => this.#ended(worker, 'it ended'))
    return worker
  }

  #received(message: FromThread): void {
    if (message.type === 'ready') return
    if (message.type === 'changes') {
      this.#onChanges(message.changes)
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.type === 'reply') waiting?.resolve(message.json)
    else {
      const { status, message: text, code, fix } = message
      waiting?.reject(new Problem(status, text, { code, ...(fix === undefined ? {} : { fix }) }))
    }
  }

  #ended(worker: Worker, why: string): void {
    if (this.#worker === worker) this.#worker = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(new Problem(500, `the studio could not read the run: ${why}`))
  }
}
