import type { ModelShape } from '../../checkpoint/index.ts'
import type { TrainingExample } from '../../contract.ts'
import type { LoraSettings } from '../llama/lora.ts'
import { gradientName, trainingGraph } from '../llama/training-graph.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Program, Runtime, Value } from '../runtime.ts'
import type { Aim } from './aim.ts'
import { BatchColumns } from './batch-columns.ts'
import type { Batch } from './batches.ts'

export interface PassOptions {
  lora?: LoraSettings | undefined
  recompute?: boolean | undefined
}

export interface PassOutcome {
  loss: number
  /** Of every example of the batch: its number, and the log-probabilities of its tokens from the second on. */
  logprobs: [member: number, logprobs: Float32Array][]
}

/** Graphs kept ready. Each holds the memory of its last run. */
const MOST_PROGRAMS = 12

/** Runs batches one after the other and gathers their gradients. */
export class PassRunner {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #options: PassOptions
  readonly #columns: BatchColumns
  readonly #programs = new Map<string, Program>()
  /** Gradients of a batch that follows another one. */
  #further: Float32Array | undefined
  #gathered = false

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: PassOptions) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#options = options
    this.#columns = new BatchColumns(runtime)
  }

  /** True when the store's gradients hold something since they were last forgotten. */
  get gathered(): boolean {
    return this.#gathered
  }

  forget(): void {
    this.#gathered = false
  }

  async run(batch: Batch, examples: readonly TrainingExample[], aim: Aim): Promise<PassOutcome> {
    const { rows, time, placed } = batch
    const program = await this.#program(batch, aim.kind)
    const inputs = new Map([...this.#store.values, ...this.#columns.of(batch, examples, aim)])
    const chosen = new Float32Array(rows * time)
    const sum = new Float32Array(1)
    const outputs = new Map<string, Value>([['logprobs', this.#runtime.value(chosen, [rows * time])]])
    if (aim.kind === 'none') await program.run(inputs, outputs)
    else {
      outputs.set('loss', this.#runtime.value(sum, []))
      await this.#gather(program, inputs, outputs)
    }
    const logprobs = placed.map(({ member, row, offset }): [number, Float32Array] => {
      const start = row * time + offset
      return [member, chosen.slice(start, start + examples[member]!.tokens.length - 1)]
    })
    return { loss: sum[0]!, logprobs }
  }

  async release(): Promise<void> {
    for (const program of this.#programs.values()) await program.release()
  }

  /** The first gradients go straight to where they are gathered, those of later batches are added. */
  async #gather(
    program: Program,
    inputs: ReadonlyMap<string, Value>,
    outputs: Map<string, Value>,
  ): Promise<void> {
    const { gradients, trained } = this.#store
    if (this.#gathered) this.#further ??= new Float32Array(gradients.length)
    const target = this.#gathered ? this.#further! : gradients
    for (const parameter of trained) {
      const part = this.#store.part(target, parameter)
      outputs.set(gradientName(parameter.name), this.#runtime.value(part, parameter.shape))
    }
    await program.run(inputs, outputs)
    if (this.#gathered) addTo(gradients, target)
    this.#gathered = true
  }

  async #program({ rows, time, packed }: Batch, loss: Aim['kind']): Promise<Program> {
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
}

export function addTo(sum: Float32Array, more: Float32Array): void {
  for (let at = 0; at < sum.length; at++) sum[at]! += more[at]!
}
