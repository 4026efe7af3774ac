import { EngineError, type ModelShape } from '../../checkpoint/index.ts'
import type { AdamSettings, Loss, OptimResult, PassResult, TrainingExample } from '../../contract.ts'
import type { LoraSettings } from '../llama/lora.ts'
import { gradientName, trainingGraph } from '../llama/training-graph.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Device, Program, Runtime, Value } from '../runtime.ts'
import { Adam } from './adam.ts'
import { BatchColumns } from './batch-columns.ts'
import { type Batch, planBatches } from './batches.ts'

export interface TrainerOptions {
  lora?: LoraSettings | undefined
  /** Tokens that go through a graph at once, filling included. Default 1024, on a GPU 4096. */
  batchTokens?: number
  recompute?: boolean
}

type GraphLoss = Loss['kind'] | 'none'

/**
 * More at once takes memory and no less time: what lies between two operations no longer stays in the caches. To a GPU
 * every batch carries all weights and back all gradients, so there fewer and larger ones are better.
 */
const BATCH_TOKENS: Record<Device, number> = { cpu: 1024, wasm: 1024, webgpu: 4096 }
/** Graphs kept ready. Each holds the memory of its last run. */
const MOST_PROGRAMS = 12

/** Passes forward and backward over examples, gradients gathered between steps, and the steps. */
export class Trainer {
  readonly adam: Adam
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #options: TrainerOptions
  readonly #columns: BatchColumns
  readonly #programs = new Map<string, Program>()
  /** Gradients of a pass that follows another one. */
  #further: Float32Array | undefined
  #gathered = false

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: TrainerOptions) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#options = options
    this.#columns = new BatchColumns(runtime)
    this.adam = new Adam(runtime.host, store)
  }

  /** One pass; without a loss nothing is gathered. `pause` is awaited between batches. */
  async pass(
    examples: readonly TrainingExample[],
    loss: Loss | undefined,
    pause: () => Promise<void> | undefined,
  ): Promise<PassResult> {
    const logprobs = examples.map(({ tokens }) => new Float32Array(tokens.length))
    const result: PassResult = { loss: 0, weight: 0, logprobs }
    for (const { weights } of examples)
      for (let at = 1; at < weights.length; at++) result.weight += weights[at]!
    const { batchTokens = BATCH_TOKENS[this.#runtime.device] } = this.#options
    for (const batch of planBatches(examples, batchTokens)) {
      await pause()
      result.loss += await this.#batch(batch, examples, loss, logprobs)
    }
    return result
  }

  async step(settings: AdamSettings): Promise<OptimResult> {
    if (!this.#gathered) this.#store.gradients.fill(0)
    const result = await this.adam.update(settings)
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
  }

  async release(): Promise<void> {
    for (const program of this.#programs.values()) await program.release()
    await this.adam.release()
  }

  async #batch(
    batch: Batch,
    examples: readonly TrainingExample[],
    loss: Loss | undefined,
    logprobs: Float32Array[],
  ): Promise<number> {
    const { rows, time } = batch
    const kind: GraphLoss = loss?.kind ?? 'none'
    const program = await this.#program(batch, kind)
    const inputs = new Map([...this.#store.values, ...this.#columns.of(batch, examples, loss)])
    const chosen = new Float32Array(rows * time)
    const sum = new Float32Array(1)
    const outputs = new Map<string, Value>([['logprobs', this.#runtime.value(chosen, [rows * time])]])
    if (kind !== 'none') {
      outputs.set('loss', this.#runtime.value(sum, []))
      const target = this.#gathered ? this.#furtherGradients() : this.#store.gradients
      for (const parameter of this.#store.trained) {
        const part = this.#store.part(target, parameter)
        outputs.set(gradientName(parameter.name), this.#runtime.value(part, parameter.shape))
      }
      await program.run(inputs, outputs)
      if (this.#gathered) addTo(this.#store.gradients, target)
      this.#gathered = true
    } else await program.run(inputs, outputs)
    for (const { member, row, offset } of batch.placed) {
      const target = logprobs[member]!
      const start = row * time + offset
      target.set(chosen.subarray(start, start + target.length - 1), 1)
    }
    return sum[0]!
  }

  async #program({ rows, time, packed }: Batch, loss: GraphLoss): Promise<Program> {
    const key = `${rows} ${time} ${packed} ${loss}`
    const known = this.#programs.get(key)
    // Taken out and put back, so that the first of the map is the one not used for longest.
    this.#programs.delete(key)
    if (known === undefined && this.#programs.size >= MOST_PROGRAMS) {
      const [oldest, program] = this.#programs.entries().next().value!
      this.#programs.delete(oldest)
      await program.release()
    }
    const { lora, recompute = false } = this.#options
    const program =
      known ??
      (await this.#runtime.load(trainingGraph(this.#shape, { rows, time, packed, loss, lora, recompute })))
    this.#programs.set(key, program)
    return program
  }

  #furtherGradients(): Float32Array {
    this.#further ??= new Float32Array(this.#store.gradients.length)
    return this.#further
  }
}

function addTo(sum: Float32Array, more: Float32Array): void {
  for (let at = 0; at < sum.length; at++) sum[at]! += more[at]!
}
