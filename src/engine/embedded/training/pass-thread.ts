import { Worker } from 'node:worker_threads'
import { EngineError, type ModelShape } from '../../checkpoint/index.ts'
import type { SharedWeights } from '../parameter-store.ts'
import { threadFlags } from '../thread-flags.ts'
import type { AdamArrays, AdamRange } from './adam-range.ts'
import type { Batch } from './batches.ts'
import type { PassLoss } from './pass-loss.ts'
import type { PassOptions, PassOutcome } from './pass-runner.ts'

export interface ThreadData {
  shape: ModelShape
  options: PassOptions
  weights: SharedWeights
  /** Accumulated gradients and moments; each thread updates a part of them. */
  arrays: AdamArrays
}

export interface PassRequest {
  batches: Batch[]
  passLoss: PassLoss
}

export type ThreadRequest =
  | { kind: 'pass'; pass: PassRequest }
  | { kind: 'squares'; from: number; to: number }
  | { kind: 'update'; ranges: AdamRange[] }

export type ThreadReply =
  | { gradients: Float32Array }
  | { outcomes: PassOutcome[]; hasGradients: boolean }
  | { squares: number }
  | { updated: true }
  | { failure: string }

/** A worker thread that runs batches. */
export class PassThread {
  readonly #worker: Worker
  #settle: ((reply: ThreadReply) => void) | undefined
  #gradients: Float32Array | undefined

  constructor(data: ThreadData) {
    // The same file in source and build; only the extension differs.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    this.#worker = new Worker(new URL(`./pass-worker.${ending}`, import.meta.url), {
      workerData: data,
      execArgv: threadFlags(),
    })
    this.#worker.on('message', (reply: ThreadReply) => this.#settle?.(reply))
    this.#worker.on('error', (cause) => this.#settle?.({ failure: cause.message }))
    this.#worker.on('exit', () => this.#settle?.({ failure: 'the thread has exited' }))
    this.#worker.unref()
  }

  /** Waits until the thread has loaded the runtime. */
  async start(): Promise<void> {
    const reply = await this.#next()
    if ('gradients' in reply) this.#gradients = reply.gradients
    else throw failed(reply)
  }

  /** The results of the batches, and their gradients, if any. */
  async run(pass: PassRequest): Promise<{ outcomes: PassOutcome[]; gradients: Float32Array | undefined }> {
    const reply = await this.#send({ kind: 'pass', pass })
    if (!('outcomes' in reply)) throw failed(reply)
    return { outcomes: reply.outcomes, gradients: reply.hasGradients ? this.#gradients : undefined }
  }

  async squares(from: number, to: number): Promise<number> {
    const reply = await this.#send({ kind: 'squares', from, to })
    if (!('squares' in reply)) throw failed(reply)
    return reply.squares
  }

  async update(ranges: AdamRange[]): Promise<void> {
    const reply = await this.#send({ kind: 'update', ranges })
    if (!('updated' in reply)) throw failed(reply)
  }

  async end(): Promise<void> {
    this.#settle = undefined
    await this.#worker.terminate()
  }

  #send(request: ThreadRequest): Promise<ThreadReply> {
    const reply = this.#next()
    this.#worker.postMessage(request)
    return reply
  }

  /** The thread keeps the process alive only while a reply is awaited. */
  async #next(): Promise<ThreadReply> {
    this.#worker.ref()
    const reply = await new Promise<ThreadReply>((resolve) => {
      this.#settle = resolve
    })
    this.#worker.unref()
    return reply
  }
}

function failed(reply: ThreadReply): EngineError {
  const why = 'failure' in reply ? reply.failure : 'unexpected reply'
  return new EngineError(`A training thread failed: ${why}`, {
    fix: 'Reopen the engine from the last checkpoint with fewer threads or smaller batches.',
  })
}
