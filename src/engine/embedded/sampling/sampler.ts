import { EngineError, type ModelShape, randomStream } from '../../checkpoint/index.ts'
import type { Sample, SampleRequest } from '../../contract.ts'
import type { LoraSettings } from '../llama/lora.ts'
import { readingGraph, stepGraph } from '../llama/sampling-graph.ts'
import { rotationTables, UNSEEN } from '../llama/whole-attention.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Data, Program, Runtime, Value } from '../runtime.ts'
import { choose } from './choose.ts'
import { RowCache } from './row-cache.ts'
import { Shelf } from './shelf.ts'
import { StopRules } from './stop-rules.ts'

export interface SamplerOptions {
  lora?: LoraSettings | undefined
  /** Bytes for the sequences being sampled, and as many for those kept. Default 1 GiB. */
  cacheBytes?: number
  /** Sequences sampled at once. Default 256. */
  mostRows?: number
  decode: (ids: ArrayLike<number>) => string
}

/** A mask may have to be fetched from another thread. */
type Allowed = (tokens: readonly number[], sample: number) => MaybeMask | Promise<MaybeMask>
type MaybeMask = Uint8Array | undefined

export type SamplerRequest = Omit<SampleRequest, 'allowed'> & { allowed?: Allowed }

/** One continuation on its way. */
interface Job {
  request: SamplerRequest
  number: number
  /** The prompt and what was sampled. */
  tokens: number[]
  promptLength: number
  /** Places at the front whose keys and values are in the cache. */
  computed: number
  reused: number
  logprobs: number[]
  modelLogprobs: number[]
  random: () => number
  stops: StopRules
  resolve: (sample: Sample) => void
  reject: (cause: unknown) => void
}

/** Tokens of a prompt that are computed at once. */
const CHUNK = 512

/**
 * Samples many sequences together, each with its own rules. A sequence joins when there is room and leaves when it is
 * done; every step computes one token of each.
 */
export class Sampler {
  readonly #runtime: Runtime
  readonly #shape: ModelShape
  readonly #store: ParameterStore
  readonly #options: SamplerOptions
  /** Keys and values of what is being sampled. */
  readonly #cache: RowCache
  readonly #shelf: Shelf
  readonly #waiting: Job[] = []
  /** Each in the row of the cache that has its number here. */
  readonly #active: Job[] = []
  #stepProgram: Program | undefined
  #readingProgram: Program | undefined
  #tables: ReadonlyMap<string, Value> | undefined
  #tablesLength = 0

  constructor(runtime: Runtime, shape: ModelShape, store: ParameterStore, options: SamplerOptions) {
    this.#runtime = runtime
    this.#shape = shape
    this.#store = store
    this.#options = options
    this.#cache = new RowCache(runtime, shape)
    this.#shelf = new Shelf(options.cacheBytes ?? 2 ** 30)
  }

  get idle(): boolean {
    return this.#waiting.length === 0 && this.#active.length === 0
  }

  /** Takes a request up; `step` has to be called until nothing is left. */
  add(request: SamplerRequest): Promise<Sample[]> {
    this.#check(request)
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
    await this.#stepProgram?.release()
    await this.#readingProgram?.release()
  }

  async #admit(): Promise<void> {
    while (this.#waiting.length > 0) {
      const job = this.#waiting[0]!
      const places = this.#placesOf(job)
      const room = Math.floor(
        (this.#options.cacheBytes ?? 2 ** 30) / this.#cache.rowBytes(Math.max(places, this.#cache.capacity)),
      )
      const most = Math.max(1, Math.min(this.#options.mostRows ?? 256, room))
      if (this.#active.length >= most) return
      this.#waiting.shift()
      // Room for what there is; more is made as sequences grow, so that no step runs over empty places.
      this.#cache.reserve(this.#active.length + 1, job.tokens.length, this.#active.length)
      this.#active.push(job)
      await this.#readPrompt(job, this.#active.length - 1)
    }
  }

  /** Everything but the last token, which the next step takes with those of the others. */
  async #readPrompt(job: Job, row: number): Promise<void> {
    const needed = job.tokens.length - 1
    const found = this.#shelf.find(job.tokens)
    if (found !== undefined) {
      const length = Math.min(found.length, needed)
      this.#cache.write(row, found.row, length)
      job.computed = length
      if (job.tokens.length === job.promptLength) job.reused = length
    }
    const fresh = needed - job.computed
    while (job.computed < needed) {
      const end = Math.min(needed, job.computed + CHUNK)
      await this.#runReading(job, row, job.tokens.slice(job.computed, end))
      job.computed = end
    }
    // For the others of a group, and for whoever asks the same again.
    if (fresh > 1)
      this.#shelf.put(Int32Array.from(job.tokens.slice(0, needed)), this.#cache.read(row, needed))
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
    const next = await this.#runStep(jobs)
    const allowed = await masks
    const size = this.#shape.vocabularySize
    const done: number[] = []
    for (const [row, job] of jobs.entries()) {
      job.computed = job.tokens.length
      const logprobs = next.logprobs.subarray(row * size, (row + 1) * size)
      const shares = next.shares.subarray(row * size, (row + 1) * size)
      const choice = choose(shares, logprobs, job.request, job.random(), allowed[row])
      const stopped = choice === undefined ? 'nothing-allowed' : this.#take(job, choice, logprobs)
      if (stopped === undefined) continue
      done.push(row)
      job.resolve({
        tokens: Int32Array.from(job.tokens.slice(job.promptLength)),
        logprobs: Float32Array.from(job.logprobs),
        modelLogprobs: Float32Array.from(job.modelLogprobs),
        stopped,
        reused: job.reused,
      })
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
    this.#shelf.put(Int32Array.from(job.tokens.slice(0, job.computed)), this.#cache.read(row, job.computed))
    const last = this.#active.pop()!
    if (last === job) return
    this.#cache.move(this.#active.length, row, last.computed)
    this.#active[row] = last
  }

  /** One token of every sequence. */
  async #runStep(jobs: readonly Job[]): Promise<{ logprobs: Float32Array; shares: Float32Array }> {
    const count = jobs.length
    const size = this.#shape.vocabularySize
    const logprobs = new Float32Array(count * size)
    const shares = new Float32Array(count * size)
    const program = (this.#stepProgram ??= await this.#runtime.load(
      stepGraph(this.#shape, this.#options.lora),
    ))
    const coldness = Float32Array.from(jobs, ({ request: { temperature = 1 } }) => 1 / (temperature || 1))
    await this.#run(
      program,
      0,
      jobs,
      jobs.map(({ tokens }) => tokens.at(-1)!),
      {
        inputs: [['inverse temperature', this.#runtime.value(coldness, [count, 1, 1])]],
        outputs: [
          ['logprobs', this.#runtime.value(logprobs, [count, 1, size])],
          ['shares', this.#runtime.value(shares, [count, 1, size])],
        ],
      },
    )
    return { logprobs, shares }
  }

  /** Several tokens of one sequence. */
  async #runReading(job: Job, row: number, tokens: readonly number[]): Promise<void> {
    const time = tokens.length
    const program = (this.#readingProgram ??= await this.#runtime.load(
      readingGraph(this.#shape, this.#options.lora),
    ))
    const earlier = Float32Array.from({ length: time * time }, (_, index) =>
      index % time > Math.floor(index / time) ? UNSEEN : 0,
    )
    await this.#run(program, row, [job], tokens, {
      inputs: [['earlier', this.#runtime.value(earlier, [time, time])]],
      outputs: [],
    })
  }

  /** Runs new tokens, as many for each of the jobs, whose rows begin at `first`, and keeps what they add to the cache. */
  async #run(
    program: Program,
    first: number,
    jobs: readonly Job[],
    tokens: readonly number[],
    more: { inputs: [string, Value][]; outputs: [string, Value][] },
  ): Promise<void> {
    const count = jobs.length
    const time = tokens.length / count
    const { capacity } = this.#cache
    const value = (data: Data, dims: number[]): Value => this.#runtime.value(data, dims)
    const begins = jobs.map(({ computed }) => computed)
    const places = new BigInt64Array(count * time)
    const filled = new Float32Array(count * capacity)
    for (const [row, begin] of begins.entries()) {
      for (let at = 0; at < time; at++) places[row * time + at] = BigInt(begin + at)
      filled.fill(UNSEEN, row * capacity + begin, (row + 1) * capacity)
    }
    const inputs = new Map<string, Value>([
      ...this.#store.values,
      ...this.#cache.view(first, count),
      ...this.#rotationTables(),
      ['ids', value(BigInt64Array.from(tokens, BigInt), [count, time])],
      ['places', value(places, [count, time])],
      ['filled', value(filled, [count, 1, 1, capacity])],
      ['part sizes', value(BigInt64Array.of(BigInt(capacity), BigInt(time)), [2])],
      ...more.inputs,
    ])
    const additions = this.#cache.additions(count, time)
    await program.run(inputs, new Map([...additions, ...more.outputs]))
    this.#cache.append(first, begins, time, additions)
  }

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

  #check({ prompt, maxTokens, temperature = 1, topP = 1, topK = 1, count = 1 }: SamplerRequest): void {
    const { contextLength, vocabularySize } = this.#shape
    const problems: string[] = []
    const isWhole = (value: number): boolean => Number.isSafeInteger(value) && value > 0
    if (prompt.length === 0) problems.push('the prompt is empty')
    if (prompt.length >= contextLength)
      problems.push(`the prompt has ${prompt.length} tokens and the model sees ${contextLength}`)
    const stranger = Array.from(prompt).find(
      (id) => !(Number.isInteger(id) && id >= 0 && id < vocabularySize),
    )
    if (stranger !== undefined) problems.push(`${stranger} is no token of a vocabulary of ${vocabularySize}`)
    if (!isWhole(maxTokens)) problems.push(`maxTokens is ${maxTokens}`)
    if (!isWhole(count)) problems.push(`count is ${count}`)
    if (!isWhole(topK)) problems.push(`topK is ${topK}`)
    if (!(temperature >= 0 && temperature < Number.POSITIVE_INFINITY))
      problems.push(`temperature is ${temperature}`)
    if (!(topP > 0 && topP <= 1)) problems.push(`topP is ${topP}`)
    if (problems.length === 0) return
    throw new EngineError(`This cannot be sampled: ${problems.join('; ')}.`, {
      fix: 'Correct the request; docs/75-engine.md lists what each field may be.',
    })
  }
}
