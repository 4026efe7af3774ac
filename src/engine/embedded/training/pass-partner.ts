import { Worker } from 'node:worker_threads'
import { EngineError, type ModelShape } from '../../checkpoint/index.ts'
import type { TrainingExample } from '../../contract.ts'
import type { SharedWeights } from '../parameter-store.ts'
import { threadFlags } from '../thread-flags.ts'
import type { AdamArrays, AdamRange } from './adam-range.ts'
import type { Aim } from './aim.ts'
import type { Batch } from './batches.ts'
import type { PassOptions, PassOutcome } from './pass-runner.ts'

export interface PartnerData {
  shape: ModelShape
  options: PassOptions
  weights: SharedWeights
  /** The sums of gradients and the moments, which each thread updates a part of. */
  arrays: AdamArrays
}

export interface PassOrder {
  batches: Batch[]
  /** With gaps: only those of the batches are sent along. */
  examples: TrainingExample[]
  aim: Aim
}

export type PartnerOrder =
  | { kind: 'pass'; pass: PassOrder }
  | { kind: 'squares'; from: number; to: number }
  | { kind: 'update'; ranges: AdamRange[] }

export type PartnerReply =
  | { gradients: Float32Array }
  | { outcomes: PassOutcome[]; gathered: boolean }
  | { squares: number }
  | { updated: true }
  | { failure: string }

/** The other end of a thread that runs batches. */
export class PassPartner {
  readonly #worker: Worker
  #settle: ((reply: PartnerReply) => void) | undefined
  #gradients: Float32Array | undefined

  constructor(data: PartnerData) {
    // The same file as source and as build: only the ending differs.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    this.#worker = new Worker(new URL(`./pass-worker.${ending}`, import.meta.url), {
      workerData: data,
      execArgv: threadFlags(),
    })
    this.#worker.on('message', (reply: PartnerReply) => this.#settle?.(reply))
    this.#worker.on('error', (cause) => this.#settle?.({ failure: cause.message }))
    this.#worker.on('exit', () => this.#settle?.({ failure: 'the thread has ended' }))
    this.#worker.unref()
  }

  /** Waits until the thread is there, which takes as long as loading the runtime. */
  async start(): Promise<void> {
    const reply = await this.#next()
    if ('gradients' in reply) this.#gradients = reply.gradients
    else throw failed(reply)
  }

  /** What the batches gave, and their gradients where any were gathered. */
  async run(pass: PassOrder): Promise<{ outcomes: PassOutcome[]; gradients: Float32Array | undefined }> {
    const reply = await this.#ask({ kind: 'pass', pass })
    if (!('outcomes' in reply)) throw failed(reply)
    return { outcomes: reply.outcomes, gradients: reply.gathered ? this.#gradients : undefined }
  }

  async squares(from: number, to: number): Promise<number> {
    const reply = await this.#ask({ kind: 'squares', from, to })
    if (!('squares' in reply)) throw failed(reply)
    return reply.squares
  }

  async update(ranges: AdamRange[]): Promise<void> {
    const reply = await this.#ask({ kind: 'update', ranges })
    if (!('updated' in reply)) throw failed(reply)
  }

  async end(): Promise<void> {
    this.#settle = undefined
    await this.#worker.terminate()
  }

  #ask(order: PartnerOrder): Promise<PartnerReply> {
    const reply = this.#next()
    this.#worker.postMessage(order)
    return reply
  }

  /** While something is awaited from it the thread keeps the program alive. */
  async #next(): Promise<PartnerReply> {
    this.#worker.ref()
    const reply = await new Promise<PartnerReply>((resolve) => {
      this.#settle = resolve
    })
    this.#worker.unref()
    return reply
  }
}

function failed(reply: PartnerReply): EngineError {
  const why = 'failure' in reply ? reply.failure : 'it answered something else'
  return new EngineError(`A thread that trains beside the engine failed: ${why}`, {
    fix: 'Open the engine with fewer threads or smaller batches, from the last checkpoint.',
  })
}
