import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { digestOf, sha256 } from '../../../base/digests/index.ts'
import { UsageError } from '../../../base/errors/index.ts'
import type { ModelApi } from '../../../logs/index.ts'
import { ActiveExchange } from './active-exchange.ts'
import { Conversations, type Named, type Place } from './conversations.ts'
import { answerOf, exchangesIn, requestOf } from './exchanges.ts'
import { isExcluded } from './exclusion.ts'
import { type Entry, Journal, type RunResult, unfinishedRuns } from './journal.ts'
import { Retries } from './retries.ts'
import { type RunStatus, RunTally } from './run-status.ts'

export interface RecordingOptions {
  /** Where journals are. */
  folder: string
  /** A run without a request for this long is complete. */
  idleMs: number
  exclude: readonly RegExp[]
  newId: () => string
  /** Writes a completed run; says whether there was anything to write. */
  onComplete: (entries: readonly Entry[]) => boolean
  /** Told what could not be recorded. The app's requests are passed on all the same. */
  onProblem: (problem: string) => void
}

/** A request of a model, as it arrived. */
export interface Arrived {
  api: ModelApi
  body: unknown
  text: string
  named: Named
  isRetry: boolean
}

interface OpenRun {
  journal: Journal
  tally: RunTally
  exchanges: number
  inFlight: number
  lastAt: number
  /** The app has ended it, and it is complete when its exchanges are. */
  isEnding: boolean
}

/** How many completed runs the status shows. */
const SHOWN = 1000

/** All runs that are being recorded: which exchange belongs to which, and when they are complete. */
export class Recording {
  readonly #options: RecordingOptions
  readonly #open = new Map<string, OpenRun>()
  readonly #complete: RunStatus[] = []
  readonly #conversations: Conversations
  readonly #retries = new Retries()
  readonly #ended = new EventEmitter()

  constructor(options: RecordingOptions) {
    this.#options = options
    this.#conversations = new Conversations(options.newId)
    for (const id of unfinishedRuns(options.folder)) this.#restore(id)
  }

  /** Begins an exchange: what is known of it is in the journal when this returns. */
  begin({ api, body, text, named, isRetry }: Arrived): ActiveExchange {
    const digest = digestOf(named, sha256(text))
    const { exclude } = this.#options
    const excluded = isExcluded(exclude, text, body)
    const request = api.request(body)
    const repeated = this.#retries.find(digest, isRetry)
    const place = repeated?.place ?? this.#conversations.place(request, named)
    const run = this.#openRun(place.run)
    const number = ++run.exchanges
    run.lastAt = Date.now()
    run.journal.add({
      at: run.lastAt,
      entry: 'request',
      exchange: number,
      agent: place.agent,
      api: api.name,
      ...(excluded ? {} : { body: text }),
      ...(repeated === undefined ? {} : { retryOf: repeated.exchange }),
    })
    run.journal.hold()
    run.inFlight++
    const attempt = this.#retries.begin(digest, place, number)
    run.tally.begin(place.agent, repeated !== undefined, excluded)
    return new ActiveExchange({
      api,
      number,
      journal: run.journal,
      excluded,
      exclude,
      onEnd: (answer, hidden) => {
        attempt.state = answer.error === undefined ? 'answered' : 'failed'
        this.#conversations.answered(place, request, answer)
        run.tally.end(answer, hidden)
        run.journal.release()
        run.inFlight--
        run.lastAt = Date.now()
        this.#ended.emit('end')
        if (run.isEnding && run.inFlight === 0) this.#finish(place.run)
      },
    })
  }

  /** The app says that a run is complete. */
  end(id: string, result: RunResult): RunStatus {
    if (!this.#open.has(id) && !this.#complete.some((run) => run.run === id))
      throw new UsageError(`there is no run "${id}"`, { fix: 'Use the id in the path of its requests.' })
    const run = this.#openRun(id)
    run.journal.add({ at: Date.now(), entry: 'result', ...result })
    if (run.inFlight === 0) return this.#finish(id)
    run.isEnding = true
    return run.tally.status(id, 'open')
  }

  /** Completes the runs that have been idle, or all that can be. */
  completeIdle(now: number, idleMs = this.#options.idleMs): void {
    for (const [id, { lastAt, inFlight }] of this.#open)
      if (inFlight === 0 && now - lastAt >= idleMs) this.#finish(id)
  }

  /** Waits until no exchange is in progress. */
  async settled(): Promise<void> {
    while ([...this.#open.values()].some(({ inFlight }) => inFlight > 0)) await once(this.#ended, 'end')
  }

  status(): RunStatus[] {
    return [...this.#complete, ...[...this.#open].map(([id, { tally }]) => tally.status(id, 'open'))]
  }

  #openRun(id: string): OpenRun {
    const known = this.#open.get(id)
    if (known !== undefined) return known
    const run: OpenRun = {
      journal: new Journal(this.#options.folder, id),
      tally: new RunTally(),
      exchanges: 0,
      inFlight: 0,
      lastAt: Date.now(),
      isEnding: false,
    }
    this.#open.set(id, run)
    // It may have been completed before; more was said since.
    this.#replay(run, id)
    return run
  }

  #restore(id: string): void {
    const run = this.#openRun(id)
    run.lastAt = run.journal.entries().at(-1)?.at ?? run.lastAt
  }

  /** Takes up what the journal has. */
  #replay(run: OpenRun, id: string): void {
    for (const exchange of exchangesIn(run.journal.entries())) {
      run.exchanges = Math.max(run.exchanges, exchange.number)
      run.tally.begin(exchange.agent, exchange.retryOf !== undefined, exchange.excluded)
      const answer = answerOf(exchange)
      run.tally.end(answer)
      if (exchange.excluded) continue
      const request = requestOf(exchange)
      const place: Place = { run: id, agent: exchange.agent }
      this.#conversations.place(request, place)
      this.#conversations.answered(place, request, answer)
    }
    const index = this.#complete.findIndex((one) => one.run === id)
    if (index >= 0) this.#complete.splice(index, 1)
  }

  /** A run that cannot be written keeps its journal, to be completed when the gateway is restarted. */
  #finish(id: string): RunStatus {
    const { journal, tally } = this.#open.get(id)!
    const state = this.#write(id, journal)
    const status = tally.status(id, state)
    this.#open.delete(id)
    this.#conversations.forget(id)
    this.#retries.forget(id)
    this.#complete.push(status)
    this.#complete.splice(0, this.#complete.length - SHOWN)
    return status
  }

  #write(id: string, journal: Journal): RunStatus['state'] {
    try {
      const written = this.#options.onComplete(journal.entries())
      journal.add({ at: Date.now(), entry: 'recorded' })
      return written ? 'complete' : 'empty'
    } catch (error) {
      this.#options.onProblem(`run ${id} could not be written: ${(error as Error).message}`)
      return 'failed'
    }
  }
}

/** The folder of the journals in a run folder. */
export const journalsIn = (dir: string): string => join(dir, 'recorded')
