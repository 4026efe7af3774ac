import type { ModelShape } from '../../checkpoint/index.ts'
import type { LoraSettings } from '../llama/lora.ts'
import { readingGraph, stepGraph } from '../llama/sampling-graph.ts'
import { rotationTables, UNSEEN } from '../llama/whole-attention.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Data, Program, Runtime, Value } from '../runtime.ts'
import type { Job } from './job.ts'
import type { RowCache } from './row-cache.ts'

/** Tokens that are read at once. */
export const READ_AT_ONCE = 4096
const LONGEST_READ = 512

/** What runs the model over new tokens of several sequences and keeps what they add to the cache. */
export class CacheRunner {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #lora: LoraSettings | undefined
  readonly #cache: RowCache
  #stepProgram: Program | undefined
  #readingProgram: Program | undefined
  #tables: ReadonlyMap<string, Value> | undefined
  #tablesLength = 0

  constructor(
    runtime: Runtime,
    shape: ModelShape,
    store: ParameterStore,
    lora: LoraSettings | undefined,
    cache: RowCache,
  ) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#lora = lora
    this.#cache = cache
  }

  /** The last token of every job, whose rows begin at 0: what could follow each. */
  async step(jobs: readonly Job[]): Promise<{ logprobs: Float32Array; shares: Float32Array }> {
    const count = jobs.length
    const size = this.#shape.vocabularySize
    const logprobs = new Float32Array(count * size)
    const shares = new Float32Array(count * size)
    this.#stepProgram ??= await this.#runtime.load(stepGraph(this.#shape, this.#lora))
    // At temperature 0 the shares are not used; any number will do.
    const coldness = Float32Array.from(jobs, ({ request: { temperature = 1 } }) => 1 / (temperature || 1))
    await this.#run(this.#stepProgram, 0, jobs, 1, {
      inputs: [['inverse temperature', this.#runtime.value(coldness, [count, 1, 1])]],
      outputs: [
        ['logprobs', this.#runtime.value(logprobs, [count, 1, size])],
        ['shares', this.#runtime.value(shares, [count, 1, size])],
      ],
    })
    return { logprobs, shares }
  }

  /** All but the last token of jobs whose rows begin at `first`, as far as they are not computed. */
  async read(first: number, jobs: readonly Job[]): Promise<void> {
    const left = ({ tokens, computed }: Job): number => tokens.length - 1 - computed
    for (;;) {
      const time = Math.min(LONGEST_READ, Math.max(...jobs.map(left)))
      if (time <= 0) return
      this.#readingProgram ??= await this.#runtime.load(readingGraph(this.#shape, this.#lora))
      const earlier = Float32Array.from({ length: time * time }, (_, index) =>
        index % time > Math.floor(index / time) ? UNSEEN : 0,
      )
      await this.#run(this.#readingProgram, first, jobs, time, {
        inputs: [['earlier', this.#runtime.value(earlier, [time, time])]],
        outputs: [],
      })
    }
  }

  async release(): Promise<void> {
    await this.#stepProgram?.release()
    await this.#readingProgram?.release()
  }

  /** Up to `time` tokens of each job. Shorter ones are filled up behind, where nothing sees the filling, and it is not kept. */
  async #run(
    program: Program,
    first: number,
    jobs: readonly Job[],
    time: number,
    more: { inputs: [string, Value][]; outputs: [string, Value][] },
  ): Promise<void> {
    const count = jobs.length
    const { capacity } = this.#cache
    const tables = this.#rotationTables()
    const value = (data: Data, dims: number[]): Value => this.#runtime.value(data, dims)
    const ids = new BigInt64Array(count * time)
    const places = new BigInt64Array(count * time)
    const filled = new Float32Array(count * capacity)
    const begins = jobs.map(({ computed }) => computed)
    const lengths = jobs.map(({ tokens, computed }) => {
      // A step takes the last token; reading leaves it.
      return time === 1 && tokens.length - computed === 1 ? 1 : Math.min(time, tokens.length - 1 - computed)
    })
    for (const [row, { tokens, computed }] of jobs.entries()) {
      for (let at = 0; at < time; at++) {
        places[row * time + at] = BigInt(Math.min(computed + at, this.#tablesLength - 1))
        if (at < lengths[row]!) ids[row * time + at] = BigInt(tokens[computed + at]!)
      }
      filled.fill(UNSEEN, row * capacity + computed, (row + 1) * capacity)
    }
    const inputs = new Map<string, Value>([
      ...this.#store.values,
      ...this.#cache.view(first, count),
      ...tables,
      ['ids', value(ids, [count, time])],
      ['places', value(places, [count, time])],
      ['filled', value(filled, [count, 1, 1, capacity])],
      ['part sizes', value(BigInt64Array.of(BigInt(capacity), BigInt(time)), [2])],
      ...more.inputs,
    ])
    const additions = this.#cache.additions(count, time)
    await program.run(inputs, new Map([...additions, ...more.outputs]))
    this.#cache.append(first, begins, lengths, time, additions)
    for (const [row, job] of jobs.entries()) job.computed += lengths[row]!
  }

  /** Angles for every place of the cache. */
  #rotationTables(): ReadonlyMap<string, Value> {
    if (this.#tables !== undefined && this.#tablesLength >= this.#cache.capacity) return this.#tables
    this.#tablesLength = this.#cache.capacity
    const { cosines, sines } = rotationTables(this.#shape, this.#tablesLength)
    const dims = [this.#tablesLength, this.#shape.headWidth / 2]
    this.#tables = new Map([
      ['cosines', this.#runtime.value(cosines, dims)],
      ['sines', this.#runtime.value(sines, dims)],
    ])
    return this.#tables
  }
}
