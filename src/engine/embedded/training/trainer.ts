import { EngineError, type ModelShape } from '../../checkpoint/index.ts'
import type { AdamSettings, Loss, OptimResult, PassResult, TrainingExample } from '../../contract.ts'
import type { LoraSettings } from '../llama/lora.ts'
import { gradientName, policyNumbers, trainingGraph } from '../llama/training-graph.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Device, Program, Runtime, Value } from '../runtime.ts'
import { Adam } from './adam.ts'
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
const MOST_PROGRAMS = 8

/** Passes forward and backward over examples, gradients gathered between steps, and the steps. */
export class Trainer {
  readonly adam: Adam
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #options: TrainerOptions
  readonly #programs = new Map<string, Program>()
  /** Gradients of a pass that follows another one. */
  #further: Float32Array | undefined
  #gathered = false

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: TrainerOptions) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#options = options
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
    const program = await this.#program(rows, time, kind)
    const inputs = new Map([...this.#store.values, ...this.#columns(batch, examples, loss)])
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
    for (const [row, member] of batch.members.entries()) {
      const target = logprobs[member]!
      target.set(chosen.subarray(row * time, row * time + target.length - 1), 1)
    }
    return sum[0]!
  }

  /** The examples of a batch as columns of tokens, shifted so that each input stands beside its target. */
  #columns(batch: Batch, examples: readonly TrainingExample[], loss: Loss | undefined): Map<string, Value> {
    const { rows, time, members } = batch
    const size = rows * time
    const numbers = (of: (example: TrainingExample) => ArrayLike<number> | undefined, shift: number) => {
      const column = new Float32Array(size)
      for (const [row, member] of members.entries()) {
        const source = of(examples[member]!)
        if (source === undefined) continue
        for (let at = shift; at < source.length - 1 + shift; at++)
          column[row * time + at - shift] = source[at]!
      }
      return this.#runtime.value(column, [size])
    }
    const ids = (shift: number) => {
      const column = new BigInt64Array(size)
      for (const [row, member] of members.entries()) {
        const { tokens } = examples[member]!
        for (let at = shift; at < tokens.length - 1 + shift; at++)
          column[row * time + at - shift] = BigInt(tokens[at]!)
      }
      return this.#runtime.value(column, [size])
    }
    const places = BigInt64Array.from({ length: size }, (_, index) => BigInt(index % time))
    const columns = new Map<string, Value>([
      ['ids', ids(0)],
      ['targets', ids(1)],
      ['places', this.#runtime.value(places, [rows, time])],
    ])
    if (loss === undefined) return columns
    columns.set(
      'weights',
      numbers(({ weights }) => weights, 1),
    )
    if (loss.kind === 'cross-entropy') return columns
    columns.set(
      'advantages',
      numbers(({ advantages }) => advantages, 1),
    )
    columns.set(
      'old_logprobs',
      numbers(({ oldLogprobs, sampledLogprobs }) => oldLogprobs ?? sampledLogprobs, 1),
    )
    // Without a cap there is no such weight: both sides are then the same.
    columns.set(
      'sampled_logprobs',
      loss.importanceCap === undefined
        ? columns.get('old_logprobs')!
        : numbers(({ sampledLogprobs }) => sampledLogprobs, 1),
    )
    const settings = [loss.lowestRatio, loss.highestRatio, loss.dualClip ?? 1e20, loss.importanceCap ?? 1e20]
    for (const [index, name] of policyNumbers.entries())
      columns.set(name, this.#runtime.value(Float32Array.of(settings[index]!), [1]))
    return columns
  }

  async #program(rows: number, time: number, loss: GraphLoss): Promise<Program> {
    const key = `${rows} ${time} ${loss}`
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
      known ?? (await this.#runtime.load(trainingGraph(this.#shape, { rows, time, loss, lora, recompute })))
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
