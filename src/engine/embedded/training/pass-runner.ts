import type { ModelShape } from '../../checkpoint/index.ts'
import type { LoraSettings } from '../llama/lora.ts'
import { gradientName, trainingGraph } from '../llama/training-graph.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Program, Runtime, Value } from '../runtime.ts'
import { BatchColumns } from './batch-columns.ts'
import type { Batch } from './batches.ts'
import type { PassLoss } from './pass-loss.ts'

export interface PassOptions {
  lora?: LoraSettings | undefined
  recompute?: boolean | undefined
}

export interface PassOutcome {
  loss: number
  /** For each example in the batch: its index, and the log-probabilities of its tokens from the second on. */
  logprobs: [member: number, logprobs: Float32Array][]
}

/** Compiled graphs to keep; each holds the memory of its last run. */
const MAX_PROGRAMS = 12

/** Runs batches one after another and accumulates their gradients. */
export class PassRunner {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #options: PassOptions
  readonly #columns: BatchColumns
  readonly #programs = new Map<string, Program>()
  /** Buffer for the gradients of all batches but the first. */
  #buffer: Float32Array | undefined
  #hasGradients = false

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: PassOptions) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#options = options
    this.#columns = new BatchColumns(runtime)
  }

  /** True if gradients have been accumulated since they were last cleared. */
  get hasGradients(): boolean {
    return this.#hasGradients
  }

  clearGradients(): void {
    this.#hasGradients = false
  }

  async run(batch: Batch, passLoss: PassLoss): Promise<PassOutcome> {
    const { rows, time, placed } = batch
    const program = await this.#program(batch, passLoss.kind)
    const inputs = new Map([...this.#store.values, ...this.#columns.of(batch, passLoss)])
    const chosen = new Float32Array(rows * time)
    const sum = new Float32Array(1)
    const outputs = new Map<string, Value>([['logprobs', this.#runtime.value(chosen, [rows * time])]])
    if (passLoss.kind === 'none') await program.run(inputs, outputs)
    else {
      outputs.set('loss', this.#runtime.value(sum, []))
      await this.#accumulate(program, inputs, outputs)
    }
    const logprobs = placed.map(({ example, member, row, offset }): [number, Float32Array] => {
      const start = row * time + offset
      return [member, chosen.slice(start, start + example.tokens.length - 1)]
    })
    return { loss: sum[0]!, logprobs }
  }

  async release(): Promise<void> {
    for (const program of this.#programs.values()) await program.release()
  }

  /** The first batch writes its gradients directly to the accumulator; later ones are added. */
  async #accumulate(
    program: Program,
    inputs: ReadonlyMap<string, Value>,
    outputs: Map<string, Value>,
  ): Promise<void> {
    const { gradients, trained } = this.#store
    if (this.#hasGradients) this.#buffer ??= new Float32Array(gradients.length)
    const target = this.#hasGradients ? this.#buffer! : gradients
    for (const parameter of trained) {
      const part = this.#store.part(target, parameter)
      outputs.set(gradientName(parameter.name), this.#runtime.value(part, parameter.shape))
    }
    await program.run(inputs, outputs)
    if (this.#hasGradients) addTo(gradients, target)
    this.#hasGradients = true
  }

  async #program({ rows, time, packed }: Batch, loss: PassLoss['kind']): Promise<Program> {
    const key = `${rows} ${time} ${packed} ${loss}`
    const known = this.#programs.get(key)
    // Reinserted, so that the map is ordered by last use.
    this.#programs.delete(key)
    if (known === undefined && this.#programs.size >= MAX_PROGRAMS) {
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
}

export function addTo(sum: Float32Array, more: Float32Array): void {
  for (let at = 0; at < sum.length; at++) sum[at]! += more[at]!
}
