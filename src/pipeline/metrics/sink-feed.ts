import { backOff } from '../../base/retry/index.ts'
import type { MetricBatch, MetricSink, SinkStatus } from './sink.ts'

/** What is kept for a sink that does not respond; the oldest is dropped. The run folder has everything. */
const MOST_WAITING = 50_000
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 300_000

/**
 * Sends batches to one sink in the background, and never fails: what a sink does not take is kept and sent again later. The first
 * failure is reported, and no other.
 */
export class SinkFeed {
  readonly #open: () => Promise<MetricSink>
  readonly #onFailure: (reason: string) => void
  #waiting: MetricBatch = { points: [], chains: [] }
  #sink: MetricSink | undefined
  #work: Promise<void> | undefined
  #failures = 0
  #notBefore = 0

  constructor(open: () => Promise<MetricSink>, onFailure: (reason: string) => void) {
    this.#open = open
    this.#onFailure = onFailure
  }

  push({ points, chains }: MetricBatch): void {
    this.#waiting = {
      points: [...this.#waiting.points, ...points].slice(-MOST_WAITING),
      chains: [...this.#waiting.chains, ...chains].slice(-MOST_WAITING / 100),
    }
  }

  /** Starts sending what is waiting, unless that is already under way or has just failed. */
  flush(): void {
    if (this.#work !== undefined || Date.now() < this.#notBefore || this.#isEmpty()) return
    this.#work = this.#send().finally(() => {
      this.#work = undefined
    })
  }

  /** Sends the rest and ends the sink's run, or gives up after `ms`. */
  async close(status: SinkStatus, ms: number): Promise<void> {
    const end = async (): Promise<void> => {
      await this.#work
      if (!this.#isEmpty()) await this.#send()
      await this.#sink?.close(status).catch((error: unknown) => this.#failed(error))
    }
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#failed(new Error(`it did not finish within ${ms / 1000} s`))
      giveUp()
    }, ms)
    await Promise.race([end(), late])
    clearTimeout(timer)
  }

  #isEmpty(): boolean {
    return this.#waiting.points.length + this.#waiting.chains.length === 0
  }

  async #send(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = { points: [], chains: [] }
    try {
      this.#sink ??= await this.#open()
      await this.#sink.send(batch)
    } catch (error) {
      const since = this.#waiting
      this.#waiting = batch
      this.push(since)
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    this.#notBefore = Date.now() + backOff(this.#failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
    if (this.#failures++ === 0) this.#onFailure(error instanceof Error ? error.message : String(error))
  }
}
