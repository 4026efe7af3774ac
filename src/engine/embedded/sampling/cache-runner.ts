import type { ModelShape } from '../../checkpoint/index.ts'
import type { LoraSettings } from '../llama/lora.ts'
import { readingGraph, stepGraph } from '../llama/sampling-graph.ts'
import { rotationTables, UNSEEN } from '../llama/whole-attention.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Data, Program, Runtime, Value } from '../runtime.ts'
import type { Job } from './job.ts'
import type { RowCache } from './row-cache.ts'
import { READ_BLOCK } from './shelf.ts'

/** Tokens that are read at once. */
export const READ_AT_ONCE = 1024

/*
 * What a sequence comes to must not hang on what else is being sampled: the same seed gives the same tokens. A sum is the
 * same to the last bit if its terms are added in the same order, zeros between them or not, so
 * - tokens are read in blocks that begin at fixed places,
 * - blocks and the cache are whole numbers of ALIGNMENT long, so that a term stays in the same lane of the processor,
 * - and there are at least two rows, as the kernel for a single one adds up otherwise.
 */
const ALIGNMENT = 64
const LEAST_ROWS = 2

/** The arrays of a run. */
interface Frame {
  count: number
  time: number
  ids: BigInt64Array
  places: BigInt64Array
  filled: Float32Array
  view: ReadonlyMap<string, Value>
  additions: ReadonlyMap<string, Value>
  inputs: ReadonlyMap<string, Value>
  outputs: ReadonlyMap<string, Value>
}

interface Step {
  frame: Frame
  coldness: Float32Array
  logprobs: Float32Array
  shares: Float32Array
}

/** What runs the model over new tokens of several sequences and keeps what they add to the cache. */
export class CacheRunner {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #lora: LoraSettings | undefined
  readonly #cache: RowCache
  #stepProgram: Program | undefined
  #readingProgram: Program | undefined
  #step: Step | undefined
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

  /** The last token of every job, whose rows begin at 0: what could follow each. Good until the next step. */
  async step(jobs: readonly Job[]): Promise<{ logprobs: Float32Array; shares: Float32Array }> {
    this.#stepProgram ??= await this.#runtime.load(stepGraph(this.#shape, this.#lora))
    const { frame, coldness, logprobs, shares } = this.#stepOf(Math.max(LEAST_ROWS, jobs.length))
    // At temperature 0 the shares are not used; any number will do.
    for (const [row, { request }] of jobs.entries()) coldness[row] = 1 / (request.temperature || 1)
    await this.#run(
      this.#stepProgram,
      0,
      jobs,
      frame,
      jobs.map(() => 1),
    )
    return { logprobs, shares }
  }

  /** All but the last token of jobs whose rows begin at `first`, as far as they are not computed. */
  async read(first: number, jobs: readonly Job[]): Promise<void> {
    const left = ({ tokens, computed }: Job): number =>
      Math.min(tokens.length - 1, READ_BLOCK * (Math.floor(computed / READ_BLOCK) + 1)) - computed
    for (;;) {
      const longest = Math.max(...jobs.map(left))
      if (longest <= 0) return
      const time = ALIGNMENT * Math.ceil(longest / ALIGNMENT)
      this.#readingProgram ??= await this.#runtime.load(readingGraph(this.#shape, this.#lora))
      const earlier = Float32Array.from({ length: time * time }, (_, index) =>
        index % time > Math.floor(index / time) ? UNSEEN : 0,
      )
      const frame = this.#frame(first, Math.max(LEAST_ROWS, jobs.length), time, {
        inputs: [['earlier', this.#runtime.value(earlier, [time, time])]],
        outputs: [],
      })
      await this.#run(
        this.#readingProgram,
        first,
        jobs,
        frame,
        jobs.map((job) => Math.min(time, left(job))),
      )
    }
  }

  async release(): Promise<void> {
    await this.#stepProgram?.release()
    await this.#readingProgram?.release()
  }

  /** Kept from step to step: new arrays for each would keep the collector of garbage busy, and it stops everything. */
  #stepOf(count: number): Step {
    const known = this.#step
    if (known?.frame.count === count && known.frame.view === this.#cache.view(0, count)) return known
    const size = this.#shape.vocabularySize
    const coldness = new Float32Array(count)
    const logprobs = new Float32Array(count * size)
    const shares = new Float32Array(count * size)
    const frame = this.#frame(0, count, 1, {
      inputs: [['inverse temperature', this.#runtime.value(coldness, [count, 1, 1])]],
      outputs: [
        ['logprobs', this.#runtime.value(logprobs, [count, 1, size])],
        ['shares', this.#runtime.value(shares, [count, 1, size])],
      ],
    })
    this.#step = { frame, coldness, logprobs, shares }
    return this.#step
  }

  #frame(
    first: number,
    count: number,
    time: number,
    more: { inputs: [string, Value][]; outputs: [string, Value][] },
  ): Frame {
    const { capacity } = this.#cache
    const tables = this.#rotationTables()
    const value = (data: Data, dims: number[]): Value => this.#runtime.value(data, dims)
    const ids = new BigInt64Array(count * time)
    const places = new BigInt64Array(count * time)
    const filled = new Float32Array(count * capacity)
    const view = this.#cache.view(first, count)
    const additions = this.#cache.additions(count, time)
    const inputs = new Map<string, Value>([
      ...this.#store.values,
      ...view,
      ...tables,
      ['ids', value(ids, [count, time])],
      ['places', value(places, [count, time])],
      ['filled', value(filled, [count, 1, 1, capacity])],
      ['part sizes', value(BigInt64Array.of(BigInt(time), BigInt(capacity)), [2])],
      ...more.inputs,
    ])
    const outputs = new Map([...additions, ...more.outputs])
    return { count, time, ids, places, filled, view, additions, inputs, outputs }
  }

  /** Up to `time` tokens of each job. Shorter ones are filled up behind, where nothing sees the filling, and it is not kept. */
  async #run(
    program: Program,
    first: number,
    jobs: readonly Job[],
    frame: Frame,
    lengths: readonly number[],
  ): Promise<void> {
    const { time, ids, places, filled, additions } = frame
    const { capacity } = this.#cache
    const begins = jobs.map(({ computed }) => computed)
    for (const [row, { tokens, computed }] of jobs.entries()) {
      for (let at = 0; at < time; at++) {
        places[row * time + at] = BigInt(Math.min(computed + at, this.#tablesLength - 1))
        ids[row * time + at] = at < lengths[row]! ? BigInt(tokens[computed + at]!) : 0n
      }
      filled.fill(0, row * capacity, row * capacity + computed)
      filled.fill(UNSEEN, row * capacity + computed, (row + 1) * capacity)
    }
    await program.run(frame.inputs, frame.outputs)
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
