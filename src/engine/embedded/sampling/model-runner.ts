import type { ModelShape } from '../../checkpoint/index.ts'
import { MASKED, ropeTables } from '../llama/causal-attention.ts'
import type { LoraSettings } from '../llama/lora.ts'
import { decodeGraph, prefillGraph } from '../llama/sampling-graph.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Data, Program, Runtime, Value } from '../runtime.ts'
import type { Job } from './job.ts'
import type { KvCache } from './kv-cache.ts'
import { PREFILL_BLOCK } from './prefix-cache.ts'

/** Maximum prefill tokens per run. */
export const PREFILL_TOKENS = 1024

/*
 * Batch invariance: a sequence's result must not depend on what else is being sampled; the same seed gives the same
 * tokens. Sums are bit-identical if their terms are added in the same order, with or without zeros in between, so
 * - tokens are prefilled in blocks that start at fixed positions,
 * - blocks and the cache are multiples of ALIGNMENT long, so that a term stays in the same SIMD lane,
 * - there are at least two rows, because the kernel for a single row adds in another order.
 */
const ALIGNMENT = 64
const MIN_ROWS = 2

/** The arrays of a run. */
interface Frame {
  count: number
  time: number
  ids: BigInt64Array
  positions: BigInt64Array
  cacheMask: Float32Array
  view: ReadonlyMap<string, Value>
  additions: ReadonlyMap<string, Value>
  inputs: ReadonlyMap<string, Value>
  outputs: ReadonlyMap<string, Value>
}

interface Step {
  frame: Frame
  inverseTemperature: Float32Array
  logprobs: Float32Array
  probabilities: Float32Array
}

/** Runs the model over new tokens of several sequences and appends their keys and values to the cache. */
export class ModelRunner {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #lora: LoraSettings | undefined
  readonly #cache: KvCache
  #decodeProgram: Program | undefined
  #prefillProgram: Program | undefined
  #step: Step | undefined
  #tables: ReadonlyMap<string, Value> | undefined
  #tablesLength = 0

  constructor(
    runtime: Runtime,
    shape: ModelShape,
    store: ParameterStore,
    lora: LoraSettings | undefined,
    cache: KvCache,
  ) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#lora = lora
    this.#cache = cache
  }

  /** Decodes the last token of every job, with rows starting at 0. The result is valid until the next step. */
  async decode(jobs: readonly Job[]): Promise<{ logprobs: Float32Array; probabilities: Float32Array }> {
    this.#decodeProgram ??= await this.#runtime.load(decodeGraph(this.#shape, this.#lora))
    const { frame, inverseTemperature, logprobs, probabilities } = this.#stepOf(
      Math.max(MIN_ROWS, jobs.length),
    )
    // At temperature 0 the probabilities are not used; any value will do.
    for (const [row, { request }] of jobs.entries()) inverseTemperature[row] = 1 / (request.temperature || 1)
    await this.#run(
      this.#decodeProgram,
      0,
      jobs,
      frame,
      jobs.map(() => 1),
    )
    return { logprobs, probabilities }
  }

  /** Prefills all but the last token of jobs whose rows start at `first`. */
  async prefill(first: number, jobs: readonly Job[]): Promise<void> {
    const left = ({ tokens, computed }: Job): number =>
      Math.min(tokens.length - 1, PREFILL_BLOCK * (Math.floor(computed / PREFILL_BLOCK) + 1)) - computed
    for (;;) {
      const longest = Math.max(...jobs.map(left))
      if (longest <= 0) return
      const time = ALIGNMENT * Math.ceil(longest / ALIGNMENT)
      this.#prefillProgram ??= await this.#runtime.load(prefillGraph(this.#shape, this.#lora))
      const causalMask = Float32Array.from({ length: time * time }, (_, index) =>
        index % time > Math.floor(index / time) ? MASKED : 0,
      )
      const frame = this.#frame(first, Math.max(MIN_ROWS, jobs.length), time, {
        inputs: [['causal mask', this.#runtime.value(causalMask, [time, time])]],
        outputs: [],
      })
      await this.#run(
        this.#prefillProgram,
        first,
        jobs,
        frame,
        jobs.map((job) => Math.min(time, left(job))),
      )
    }
  }

  async release(): Promise<void> {
    await this.#decodeProgram?.release()
    await this.#prefillProgram?.release()
  }

  /** Reused between steps: new arrays for each would cause garbage collection pauses. */
  #stepOf(count: number): Step {
    const known = this.#step
    if (known?.frame.count === count && known.frame.view === this.#cache.view(0, count)) return known
    const size = this.#shape.vocabularySize
    const inverseTemperature = new Float32Array(count)
    const logprobs = new Float32Array(count * size)
    const probabilities = new Float32Array(count * size)
    const frame = this.#frame(0, count, 1, {
      inputs: [['inverse temperature', this.#runtime.value(inverseTemperature, [count, 1, 1])]],
      outputs: [
        ['logprobs', this.#runtime.value(logprobs, [count, 1, size])],
        ['probabilities', this.#runtime.value(probabilities, [count, 1, size])],
      ],
    })
    this.#step = { frame, inverseTemperature, logprobs, probabilities }
    return this.#step
  }

  #frame(
    first: number,
    count: number,
    time: number,
    more: { inputs: [string, Value][]; outputs: [string, Value][] },
  ): Frame {
    const { capacity } = this.#cache
    const tables = this.#ropeTables()
    const value = (data: Data, dims: number[]): Value => this.#runtime.value(data, dims)
    const ids = new BigInt64Array(count * time)
    const positions = new BigInt64Array(count * time)
    const cacheMask = new Float32Array(count * capacity)
    const view = this.#cache.view(first, count)
    const additions = this.#cache.additions(count, time)
    const inputs = new Map<string, Value>([
      ...this.#store.values,
      ...view,
      ...tables,
      ['ids', value(ids, [count, time])],
      ['positions', value(positions, [count, time])],
      ['cache mask', value(cacheMask, [count, 1, 1, capacity])],
      ['part sizes', value(BigInt64Array.of(BigInt(time), BigInt(capacity)), [2])],
      ...more.inputs,
    ])
    const outputs = new Map([...additions, ...more.outputs])
    return { count, time, ids, positions, cacheMask, view, additions, inputs, outputs }
  }

  /** Runs up to `time` tokens of each job. Shorter ones are padded at the end; the padding is invisible and discarded. */
  async #run(
    program: Program,
    first: number,
    jobs: readonly Job[],
    frame: Frame,
    lengths: readonly number[],
  ): Promise<void> {
    const { time, ids, positions, cacheMask, additions } = frame
    const { capacity } = this.#cache
    const starts = jobs.map(({ computed }) => computed)
    for (const [row, { tokens, computed }] of jobs.entries()) {
      for (let at = 0; at < time; at++) {
        positions[row * time + at] = BigInt(Math.min(computed + at, this.#tablesLength - 1))
        ids[row * time + at] = at < lengths[row]! ? BigInt(tokens[computed + at]!) : 0n
      }
      cacheMask.fill(0, row * capacity, row * capacity + computed)
      cacheMask.fill(MASKED, row * capacity + computed, (row + 1) * capacity)
    }
    await program.run(frame.inputs, frame.outputs)
    this.#cache.append(first, starts, lengths, time, additions)
    for (const [row, job] of jobs.entries()) job.computed += lengths[row]!
  }

  /** RoPE tables for every cache position. */
  #ropeTables(): ReadonlyMap<string, Value> {
    if (this.#tables !== undefined && this.#tablesLength >= this.#cache.capacity) return this.#tables
    this.#tablesLength = this.#cache.capacity
    const { cosines, sines } = ropeTables(this.#shape, this.#tablesLength)
    const dims = [this.#tablesLength, this.#shape.headWidth / 2]
    this.#tables = new Map([
      ['cosines', this.#runtime.value(cosines, dims)],
      ['sines', this.#runtime.value(sines, dims)],
    ])
    return this.#tables
  }
}
