import { EngineError, type ModelShape } from '../../checkpoint/index.ts'
import type { AdamSettings, OptimResult, PassResult, TrainingExample } from '../../contract.ts'
import type { LoraSettings } from '../llama/lora.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Device, Runtime } from '../runtime.ts'
import { Adam } from './adam.ts'
import type { Aim } from './aim.ts'
import { type Batch, dealOut, planBatches } from './batches.ts'
import { PassPartner } from './pass-partner.ts'
import { addTo, type PassOutcome, PassRunner } from './pass-runner.ts'

export interface TrainerOptions {
  lora?: LoraSettings | undefined
  /** Tokens that go through a graph at once, filling included. Default 512, on a GPU 4096. */
  batchTokens?: number
  recompute?: boolean
}

/**
 * More at once takes memory and no less time: what lies between two operations no longer stays in the caches. To a GPU
 * every batch carries all weights and back all gradients, so there fewer and larger ones are better.
 */
const BATCH_TOKENS: Record<Device, number> = { cpu: 512, wasm: 512, webgpu: 4096 }

/** Passes forward and backward over examples, gradients gathered between steps, and the steps. */
export class Trainer {
  readonly adam: Adam
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #options: TrainerOptions
  readonly #runner: PassRunner
  #partners: Promise<PassPartner[]> | undefined
  /** Gradients of partners are in the sum, whether or not this thread gathered any. */
  #gathered = false

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: TrainerOptions) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#options = options
    this.#runner = new PassRunner(runtime.single, shape, store, options)
    this.adam = new Adam(store)
  }

  /** One pass; without a loss nothing is gathered. `pause` is awaited between batches. */
  async pass(
    examples: readonly TrainingExample[],
    aim: Aim,
    pause: () => Promise<void> | undefined,
  ): Promise<PassResult> {
    const logprobs = examples.map(({ tokens }) => new Float32Array(tokens.length))
    const result: PassResult = { loss: 0, weight: 0, logprobs }
    for (const { weights } of examples)
      for (let at = 1; at < weights.length; at++) result.weight += weights[at]!
    for (const { loss: part, logprobs: found } of await this.#runAll(examples, aim, pause)) {
      result.loss += part
      for (const [member, values] of found) logprobs[member]!.set(values, 1)
    }
    return result
  }

  /** Every thread gets batches of its own; the sums are added in the same order every time. */
  async #runAll(
    examples: readonly TrainingExample[],
    aim: Aim,
    pause: () => Promise<void> | undefined,
  ): Promise<PassOutcome[]> {
    const helpers = this.#runtime.device === 'cpu' ? this.#runtime.threads - 1 : 0
    const { batchTokens = BATCH_TOKENS[this.#runtime.device] } = this.#options
    const total = examples.reduce((sum, { tokens }) => sum + tokens.length, 0)
    // Small enough that every thread gets one.
    const batches = planBatches(examples, Math.min(batchTokens, Math.ceil(total / (helpers + 1))))
    const partners = helpers > 0 && batches.length > 1 ? await this.#startPartners(helpers) : []
    const shares = dealOut(batches, partners.length + 1)
    const elsewhere = partners.map((partner, index) =>
      partner.run({ batches: shares[index + 1]!, examples: only(examples, shares[index + 1]!), aim }),
    )
    // Heard of below; until then a failure here must not pass for one that nobody awaits.
    for (const each of elsewhere) each.catch(() => undefined)
    const outcomes: PassOutcome[] = []
    try {
      for (const batch of shares[0]!) {
        await pause()
        outcomes.push(await this.#runner.run(batch, examples, aim))
      }
    } finally {
      await Promise.allSettled(elsewhere)
    }
    for (const each of elsewhere) {
      const { outcomes: more, gradients } = await each
      outcomes.push(...more)
      if (gradients !== undefined) this.#add(gradients)
    }
    return outcomes
  }

  #add(gradients: Float32Array): void {
    if (this.#runner.gathered || this.#gathered) addTo(this.#store.gradients, gradients)
    else this.#store.gradients.set(gradients)
    this.#gathered = true
  }

  #startPartners(count: number): Promise<PassPartner[]> {
    const { lora, recompute } = this.#options
    this.#partners ??= Promise.all(
      Array.from({ length: count }, async () => {
        const partner = new PassPartner({
          shape: this.#shape,
          options: { lora, recompute },
          weights: this.#store.share(),
          arrays: this.adam.arrays,
        })
        await partner.start()
        return partner
      }),
    )
    return this.#partners
  }

  async step(settings: AdamSettings): Promise<OptimResult> {
    if (!this.#runner.gathered && !this.#gathered) this.#store.gradients.fill(0)
    const result = await this.adam.update(settings, (await this.#partners) ?? [])
    this.forget()
    if (Number.isFinite(result.gradientNorm)) return result
    throw new EngineError(
      'The gradient is not a number, so the step was left out and the weights are as before.',
      {
        fix: 'Look at the examples and weights of this step, or lower the learning rate.',
      },
    )
  }

  /** Drops what has been gathered. */
  forget(): void {
    this.#gathered = false
    this.#runner.forget()
  }

  async release(): Promise<void> {
    for (const partner of (await this.#partners) ?? []) await partner.end()
    await this.#runner.release()
  }
}

/** The list with gaps where an example is in none of the batches, so that it need not travel. */
function only(examples: readonly TrainingExample[], batches: readonly Batch[]): TrainingExample[] {
  const sent: TrainingExample[] = []
  for (const { placed } of batches) for (const { member } of placed) sent[member] = examples[member]!
  return sent
}
