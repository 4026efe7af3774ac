import { checkRequest } from '../../check-request.ts'
import { EngineError, type ModelShape, randomStream } from '../../checkpoint/index.ts'
import type { Sample } from '../../contract.ts'
import { finishedSample } from '../../finished-sample.ts'
import { StopRules } from '../../stop-rules.ts'
import type { LoraSettings } from '../llama/lora.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Runtime } from '../runtime.ts'
import { CacheRunner, READ_AT_ONCE } from './cache-runner.ts'
import { choose } from './choose.ts'
import type { Job, SamplerRequest } from './job.ts'
import { RowCache } from './row-cache.ts'
import { knownLength, Shelf } from './shelf.ts'

/** Tokens that two sequences must have in common for one to wait until the other has read them. */
const WORTH_WAITING = 16

export interface SamplerOptions {
  lora?: LoraSettings | undefined
  /** Bytes for the sequences being sampled, and as many for those kept. Default 1 GiB. */
  cacheBytes?: number
  /** Sequences sampled at once. Default 256. */
  mostRows?: number
  decode: (ids: ArrayLike<number>) => string
}

/**
 * Samples many sequences together, each with its own rules. A sequence joins when there is room and leaves when it is
 * done; every step computes one token of each.
 */
export class Sampler {
  readonly #shape: ModelShape
  readonly #options: SamplerOptions
  /** Keys and values of what is being sampled. */
  readonly #cache: RowCache
  readonly #runner: CacheRunner
  readonly #shelf: Shelf
  readonly #waiting: Job[] = []
  /** Each in the row of the cache that has its number here. */
  readonly #active: Job[] = []

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: SamplerOptions) {
    this.#shape = shape
    this.#options = options
    this.#cache = new RowCache(runtime, shape)
    this.#runner = new CacheRunner(runtime, shape, store, options.lora, this.#cache)
    this.#shelf = new Shelf(options.cacheBytes ?? 2 ** 30)
  }

  get idle(): boolean {
    return this.#waiting.length === 0 && this.#active.length === 0
  }

  /** Takes a request up; `step` has to be called until nothing is left. */
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
          // 53 bits, so that no token of any share is out of reach.
          random: () => ((stream() >>> 5) * 2 ** 26 + (stream() >>> 6)) / 2 ** 53,
          stops: new StopRules(request, this.#options.decode),
          resolve,
          reject,
        })
      })
    })
    return Promise.all(jobs)
  }

  /** Lets waiting sequences join, then adds one token to each. */
  async step(): Promise<void> {
    this.#dropAborted()
    try {
      await this.#admit()
      if (this.#active.length > 0) await this.#advance()
    } catch (cause) {
      // Nobody may wait for ever: what was under way ends with the reason.
      for (const job of [...this.#active.splice(0), ...this.#waiting.splice(0)]) job.reject(cause)
    }
  }

  /** After the weights have changed nothing that was computed with the old ones may be used. */
  weightsChanged(): void {
    this.#shelf.clear()
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
      const joining = this.#nextToJoin()
      if (joining.length === 0) return
      const first = this.#active.length
      const longest = Math.max(...joining.map(({ tokens }) => tokens.length))
      // Room for what there is; more is made as sequences grow, so that no step runs over empty places.
      this.#cache.reserve(first + joining.length, longest, first)
      this.#active.push(...joining)
      for (const [index, job] of joining.entries()) this.#takeFromShelf(job, first + index)
      const fresh = joining.filter((job) => job.tokens.length - 1 - job.computed > 1)
      await this.#runner.read(first, joining)
      // For the others of a group, and for whoever asks the same again.
      for (const job of fresh) this.#keep(job, this.#active.indexOf(job), false)
    }
  }

  /**
   * Sequences that join together: as many as there is room for and can be read at once. One that begins like another of
   * them waits for the next time, when that beginning has been read.
   */
  #nextToJoin(): Job[] {
    const joining: Job[] = []
    let longest = 0
    for (const job of [...this.#waiting]) {
      const places = Math.max(this.#placesOf(job), this.#cache.capacity)
      const room = Math.floor((this.#options.cacheBytes ?? 2 ** 30) / this.#cache.rowBytes(places))
      const most = Math.max(1, Math.min(this.#options.mostRows ?? 256, room))
      if (this.#active.length + joining.length >= most) break
      const known = this.#shelf.find(job.tokens)?.length ?? 0
      // All but the last token of the other will have been read by then.
      const repeats = joining.some(
        ({ tokens }) =>
          knownLength({ tokens: tokens.slice(0, -1), isDone: false }, job.tokens) - known >= WORTH_WAITING,
      )
      if (repeats) continue
      longest = Math.max(longest, job.tokens.length - known)
      if (joining.length > 0 && longest * (joining.length + 1) > READ_AT_ONCE) break
      joining.push(job)
      this.#waiting.splice(this.#waiting.indexOf(job), 1)
    }
    return joining
  }

  #takeFromShelf(job: Job, row: number): void {
    const found = this.#shelf.find(job.tokens)
    if (found === undefined) return
    job.computed = found.length
    this.#cache.write(row, found.row, job.computed)
    if (job.tokens.length === job.promptLength) job.reused = job.computed
  }

  /** Keeps what a sequence has computed. */
  #keep({ tokens, computed }: Job, row: number, isDone: boolean): void {
    this.#shelf.put(Int32Array.from(tokens.slice(0, computed)), this.#cache.read(row, computed), isDone)
  }

  async #advance(): Promise<void> {
    const jobs = this.#active
    // Asked for before the step, so that they can be worked out while it runs.
    const masks = Promise.all(
      jobs.map(({ request, tokens, promptLength, number }) =>
        request.allowed?.(tokens.slice(promptLength), number),
      ),
    )
    masks.catch(() => undefined)
    this.#cache.reserve(jobs.length, Math.max(...jobs.map(({ tokens }) => tokens.length)), jobs.length)
    const next = await this.#runner.step(jobs)
    const allowed = await masks
    const size = this.#shape.vocabularySize
    const done: number[] = []
    for (const [row, job] of jobs.entries()) {
      const logprobs = next.logprobs.subarray(row * size, (row + 1) * size)
      const shares = next.shares.subarray(row * size, (row + 1) * size)
      const choice = choose(shares, logprobs, job.request, job.random(), allowed[row])
      const stopped = choice === undefined ? 'nothing-allowed' : this.#take(job, choice, logprobs)
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
      throw new EngineError('The model gives no numbers: its weights have gone bad.', {
        fix: 'Go back to an earlier checkpoint and lower the learning rate.',
      })
    job.tokens.push(token)
    job.logprobs.push(logprob)
    job.modelLogprobs.push(modelLogprob)
    job.request.onToken?.(token, job.number)
    const sampled = job.tokens.slice(job.promptLength)
    const stopped = job.stops.after(sampled)
    if (stopped !== undefined) return stopped
    if (sampled.length >= job.request.maxTokens) return 'length'
    return job.tokens.length >= this.#shape.contextLength ? 'context' : undefined
  }

  /** Keeps what a finished sequence computed, and closes the gap it leaves with the last one. */
  #leave(row: number): void {
    const job = this.#active[row]!
    this.#keep(job, row, true)
    const last = this.#active.pop()!
    if (last === job) return
    this.#cache.move(this.#active.length, row, last.computed)
    this.#active[row] = last
  }

  #placesOf({ promptLength, request }: Job): number {
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
