import { checkRequest } from '../../check-request.ts'
import { EngineError, type ModelShape, randomStream } from '../../checkpoint/index.ts'
import type { Sample } from '../../contract.ts'
import { finishedSample } from '../../finished-sample.ts'
import { StopConditions } from '../../stop-conditions.ts'
import type { LoraSettings } from '../llama/lora.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Runtime } from '../runtime.ts'
import type { Job, SamplerRequest } from './job.ts'
import { KvCache } from './kv-cache.ts'
import { ModelRunner, PREFILL_TOKENS } from './model-runner.ts'
import { PrefixCache, reusableLength } from './prefix-cache.ts'
import { sampleToken } from './sample-token.ts'

/** Prefix tokens that a sequence must share with another to wait for its prefill. */
const MIN_SHARED_TOKENS = 16

export interface SamplerOptions {
  lora?: LoraSettings | undefined
  /** Bytes for the KV cache, and as many for the prefix cache. Default 1 GiB. */
  cacheBytes?: number
  /** Sequences sampled at once. Default 256. */
  maxRows?: number
  decode: (ids: ArrayLike<number>) => string
}

/**
 * Continuous batching: sequences join when there is space and leave when they are done; every step computes one token of
 * each.
 */
export class Sampler {
  readonly #shape: ModelShape
  readonly #options: SamplerOptions
  /** Keys and values of the active sequences. */
  readonly #cache: KvCache
  readonly #runner: ModelRunner
  readonly #prefixCache: PrefixCache
  readonly #waiting: Job[] = []
  /** Each job's index is its cache row. */
  readonly #active: Job[] = []
  /** Increases with every change of the weights. */
  #version = 0

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: SamplerOptions) {
    this.#shape = shape
    this.#options = options
    this.#cache = new KvCache(runtime, shape)
    this.#runner = new ModelRunner(runtime, shape, store, options.lora, this.#cache)
    this.#prefixCache = new PrefixCache(options.cacheBytes ?? 2 ** 30)
  }

  get idle(): boolean {
    return this.#waiting.length === 0 && this.#active.length === 0
  }

  /** Queues a request; call `step` until the sampler is idle. */
  add(request: SamplerRequest): Promise<Sample[]> {
    checkRequest(request, this.#shape)
    const seed = request.seed ?? Math.floor(Math.random() * 2 ** 48)
    const jobs = Array.from({ length: request.count ?? 1 }, (_, number) => {
      return new Promise<Sample>((resolve, reject) => {
        const stream = randomStream(`sample ${seed + number}`)
        this.#waiting.push({
          request,
          number,
          tokens: Array.from(request.prompt),
          promptLength: request.prompt.length,
          computed: 0,
          reused: 0,
          logprobs: [],
          modelLogprobs: [],
          versions: [],
          // 53 bits, so that tokens of any probability can be sampled.
          random: () => ((stream() >>> 5) * 2 ** 26 + (stream() >>> 6)) / 2 ** 53,
          stops: new StopConditions(request, this.#options.decode),
          resolve,
          reject,
        })
      })
    })
    return Promise.all(jobs)
  }

  /** Admits waiting sequences, then adds one token to each. */
  async step(): Promise<void> {
    this.#dropAborted()
    try {
      await this.#admit()
      if (this.#active.length > 0) await this.#advance()
    } catch (cause) {
      // No request may wait forever: everything in progress fails with the cause.
      for (const job of [...this.#active.splice(0), ...this.#waiting.splice(0)]) job.reject(cause)
    }
  }

  /** Invalidates everything computed with the old weights. */
  weightsChanged(): void {
    this.#version++
    this.#prefixCache.clear()
    for (const job of this.#active.splice(0)) {
      job.computed = 0
      this.#waiting.unshift(job)
    }
  }

  async release(): Promise<void> {
    for (const job of [...this.#active.splice(0), ...this.#waiting.splice(0)])
      job.reject(new EngineError('The engine was closed while it was sampling.'))
    await this.#runner.release()
  }

  async #admit(): Promise<void> {
    for (;;) {
      const admitted = this.#nextAdmitted()
      if (admitted.length === 0) return
      const first = this.#active.length
      const longest = Math.max(...admitted.map(({ tokens }) => tokens.length))
      // Capacity for the current tokens; it grows with the sequences, so that steps do not run over empty slots.
      this.#cache.reserve(first + admitted.length, longest, first)
      this.#active.push(...admitted)
      for (const [index, job] of admitted.entries()) this.#reusePrefix(job, first + index)
      const fresh = admitted.filter((job) => job.tokens.length - 1 - job.computed > 1)
      await this.#runner.prefill(first, admitted)
      // For the rest of a group, and for repeated prompts.
      for (const job of fresh) this.#cachePrefix(job, this.#active.indexOf(job), false)
    }
  }

  /**
   * Sequences to admit together: as many as fit and can be prefilled at once. One that shares a prefix with another waits
   * for the next round, when that prefix is cached.
   */
  #nextAdmitted(): Job[] {
    const admitted: Job[] = []
    let longest = 0
    for (const job of [...this.#waiting]) {
      const slots = Math.max(this.#maxSlots(job), this.#cache.capacity)
      const fitting = Math.floor((this.#options.cacheBytes ?? 2 ** 30) / this.#cache.rowBytes(slots))
      const maxRows = Math.max(1, Math.min(this.#options.maxRows ?? 256, fitting))
      if (this.#active.length + admitted.length >= maxRows) break
      const known = this.#prefixCache.find(job.tokens)?.length ?? 0
      // By then, all but the other's last token will be cached.
      const waitsForPrefix = admitted.some(
        ({ tokens }) =>
          reusableLength({ tokens: tokens.slice(0, -1), isDone: false }, job.tokens) - known >=
          MIN_SHARED_TOKENS,
      )
      if (waitsForPrefix) continue
      longest = Math.max(longest, job.tokens.length - known)
      if (admitted.length > 0 && longest * (admitted.length + 1) > PREFILL_TOKENS) break
      admitted.push(job)
      this.#waiting.splice(this.#waiting.indexOf(job), 1)
    }
    return admitted
  }

  #reusePrefix(job: Job, row: number): void {
    const found = this.#prefixCache.find(job.tokens)
    if (found === undefined) return
    job.computed = found.length
    this.#cache.write(row, found.row, job.computed)
    if (job.tokens.length === job.promptLength) job.reused = job.computed
  }

  /** Stores a sequence in the prefix cache. */
  #cachePrefix({ tokens, computed }: Job, row: number, isDone: boolean): void {
    this.#prefixCache.put(Int32Array.from(tokens.slice(0, computed)), this.#cache.read(row, computed), isDone)
  }

  async #advance(): Promise<void> {
    const jobs = this.#active
    // Requested before the step, so that masks are computed while it runs.
    const masks = Promise.all(
      jobs.map(({ request, tokens, promptLength, number }) =>
        request.allowed?.(tokens.slice(promptLength), number),
      ),
    )
    masks.catch(() => undefined)
    this.#cache.reserve(jobs.length, Math.max(...jobs.map(({ tokens }) => tokens.length)), jobs.length)
    const next = await this.#runner.decode(jobs)
    const allowed = await masks
    const size = this.#shape.vocabularySize
    const done: number[] = []
    for (const [row, job] of jobs.entries()) {
      const logprobs = next.logprobs.subarray(row * size, (row + 1) * size)
      const probabilities = next.probabilities.subarray(row * size, (row + 1) * size)
      const sampled = sampleToken(probabilities, logprobs, job.request, job.random(), allowed[row])
      const stopped = sampled === undefined ? 'nothing-allowed' : this.#take(job, sampled, logprobs)
      if (stopped === undefined) continue
      done.push(row)
      job.resolve(finishedSample({ ...job, tokens: job.tokens.slice(job.promptLength) }, stopped))
    }
    for (const row of done.reverse()) this.#leave(row)
  }

  #take(
    job: Job,
    { token, logprob }: { token: number; logprob: number },
    logprobs: Float32Array,
  ): Sample['stopped'] | undefined {
    const modelLogprob = logprobs[token]!
    if (Number.isNaN(modelLogprob))
      throw new EngineError("The model's output is NaN: its weights are broken.", {
        fix: 'Return to an earlier checkpoint and lower the learning rate.',
      })
    job.tokens.push(token)
    job.logprobs.push(logprob)
    job.modelLogprobs.push(modelLogprob)
    job.versions.push(this.#version)
    job.request.onToken?.(token, job.number)
    const sampled = job.tokens.slice(job.promptLength)
    const stopped = job.stops.after(sampled)
    if (stopped !== undefined) return stopped
    if (sampled.length >= job.request.maxTokens) return 'length'
    return job.tokens.length >= this.#shape.contextLength ? 'context' : undefined
  }

  /** Caches a finished sequence and moves the last row into its place. */
  #leave(row: number): void {
    const job = this.#active[row]!
    this.#cachePrefix(job, row, true)
    const last = this.#active.pop()!
    if (last === job) return
    this.#cache.move(this.#active.length, row, last.computed)
    this.#active[row] = last
  }

  #maxSlots({ promptLength, request }: Job): number {
    return Math.min(this.#shape.contextLength, promptLength + request.maxTokens)
  }

  #dropAborted(): void {
    for (const job of this.#waiting.filter(({ request }) => request.signal?.aborted)) {
      this.#waiting.splice(this.#waiting.indexOf(job), 1)
      job.reject(job.request.signal!.reason)
    }
    for (let row = this.#active.length - 1; row >= 0; row--) {
      const job = this.#active[row]!
      if (!job.request.signal?.aborted) continue
      job.reject(job.request.signal.reason)
      this.#leave(row)
    }
  }
}
