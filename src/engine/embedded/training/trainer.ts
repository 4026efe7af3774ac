import { EngineError, type ModelShape } from '../../checkpoint/index.ts'
import type { AdamSettings, OptimResult, PassResult, TrainingExample } from '../../contract.ts'
import type { LoraSettings } from '../llama/lora.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Device, Runtime } from '../runtime.ts'
import { Adam } from './adam.ts'
import { balanceBatches, planBatches } from './batches.ts'
import type { PassLoss } from './pass-loss.ts'
import { addTo, type PassOutcome, PassRunner } from './pass-runner.ts'
import { PassThread } from './pass-thread.ts'

export interface TrainerOptions {
  lora?: LoraSettings | undefined
  /** Tokens per batch, padding included. Default 512, on a GPU 4096. */
  batchTokens?: number
  recompute?: boolean
}

/**
 * Larger batches take more memory and no less time on a CPU, because intermediate results no longer fit in its caches.
 * On a GPU every batch transfers all weights and gradients, so fewer and larger ones are better.
 */
const BATCH_TOKENS: Record<Device, number> = { cpu: 512, wasm: 512, webgpu: 4096 }

/** Forward and backward passes, gradient accumulation and optimizer steps. */
export class Trainer {
  readonly adam: Adam
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #options: TrainerOptions
  readonly #runner: PassRunner
  #workers: Promise<PassThread[]> | undefined
  /** Other threads' gradients have been added, whether or not this thread has any. */
  #hasGradients = false

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: TrainerOptions) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#options = options
    this.#runner = new PassRunner(runtime.single, shape, store, options)
    this.adam = new Adam(store)
  }

  /** One pass; without a loss no gradients are accumulated. `pause` is awaited between batches. */
  async pass(
    examples: readonly TrainingExample[],
    passLoss: PassLoss,
    pause: () => Promise<void> | undefined,
  ): Promise<PassResult> {
    const logprobs = examples.map(({ tokens }) => new Float32Array(tokens.length))
    const result: PassResult = { loss: 0, weight: 0, logprobs }
    for (const { weights } of examples)
      for (let at = 1; at < weights.length; at++) result.weight += weights[at]!
    for (const { loss: part, logprobs: found } of await this.#runAll(examples, passLoss, pause)) {
      result.loss += part
      for (const [member, values] of found) logprobs[member]!.set(values, 1)
    }
    return result
  }

  /** Distributes batches over threads; sums are added in the same order every time. */
  async #runAll(
    examples: readonly TrainingExample[],
    passLoss: PassLoss,
    pause: () => Promise<void> | undefined,
  ): Promise<PassOutcome[]> {
    const helpers = this.#runtime.device === 'cpu' ? this.#runtime.threads - 1 : 0
    const { batchTokens = BATCH_TOKENS[this.#runtime.device] } = this.#options
    const total = examples.reduce((sum, { tokens }) => sum + tokens.length, 0)
    // Small enough that every thread gets one.
    const batches = planBatches(examples, Math.min(batchTokens, Math.ceil(total / (helpers + 1))))
    const workers = helpers > 0 && batches.length > 1 ? await this.#startWorkers(helpers) : []
    const assignments = balanceBatches(batches, workers.length + 1)
    const others = workers.map((worker, index) => worker.run({ batches: assignments[index + 1]!, passLoss }))
    // Awaited below; until then a failure must not count as an unhandled rejection.
    for (const each of others) each.catch(() => undefined)
    const outcomes: PassOutcome[] = []
    try {
      for (const batch of assignments[0]!) {
        await pause()
        outcomes.push(await this.#runner.run(batch, passLoss))
      }
    } finally {
      await Promise.allSettled(others)
    }
    for (const each of others) {
      const { outcomes: more, gradients } = await each
      outcomes.push(...more)
      if (gradients !== undefined) this.#addGradients(gradients)
    }
    return outcomes
  }

  #addGradients(gradients: Float32Array): void {
    if (this.#runner.hasGradients || this.#hasGradients) addTo(this.#store.gradients, gradients)
    else this.#store.gradients.set(gradients)
    this.#hasGradients = true
  }

  #startWorkers(count: number): Promise<PassThread[]> {
    const { lora, recompute } = this.#options
    this.#workers ??= Promise.all(
      Array.from({ length: count }, async () => {
        const worker = new PassThread({
          shape: this.#shape,
          options: { lora, recompute },
          weights: this.#store.share(),
          arrays: this.adam.arrays,
        })
        await worker.start()
        return worker
      }),
    )
    return this.#workers
  }

  async step(settings: AdamSettings): Promise<OptimResult> {
    if (!this.#runner.hasGradients && !this.#hasGradients) this.#store.gradients.fill(0)
    const result = await this.adam.update(settings, (await this.#workers) ?? [])
    this.clearGradients()
    if (Number.isFinite(result.gradientNorm)) return result
    throw new EngineError(
      'The gradient is not a number, so the step was skipped and the weights are unchanged.',
      {
        fix: 'Check the examples and weights of this step, or lower the learning rate.',
      },
    )
  }

  /** Discards the accumulated gradients. */
  clearGradients(): void {
    this.#hasGradients = false
    this.#runner.clearGradients()
  }

  async release(): Promise<void> {
    for (const worker of (await this.#workers) ?? []) await worker.end()
    await this.#runner.release()
  }
}
