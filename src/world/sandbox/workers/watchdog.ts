import { Worker } from 'node:worker_threads'
import {
  cpuOf,
  type WatchdogData,
  watchdogField,
  watchdogFieldCount,
  watchdogState,
} from './watchdog-state.ts'

/** The limit a program exceeded. */
export type ExceededLimit = 'cpu' | 'wall'

/** Saved before the globals are removed. */
const cpuUsage = process.cpuUsage.bind(process)

/** Controls the watchdog thread of a worker; see watchdog-thread.ts. */
export class Watchdog {
  readonly #control = new Int32Array(new SharedArrayBuffer(4 * watchdogFieldCount))
  /** Where an interpreter checks for interrupts. */
  readonly interrupt = new Uint8Array(new SharedArrayBuffer(1))

  constructor() {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const thread = new Worker(new URL(`./watchdog-thread.${extension}`, import.meta.url), {
      // Read now: the parent may be gone before the thread first checks.
      workerData: {
        parent: process.ppid,
        control: this.#control,
        interrupt: this.interrupt,
      } satisfies WatchdogData,
      env: {},
    })
    thread.unref()
  }

  begin({ cpuMs, wallMs }: { cpuMs: number; wallMs: number }): void {
    Atomics.store(this.#control, watchdogField.cpuMs, cpuMs)
    Atomics.store(this.#control, watchdogField.wallMs, wallMs)
    Atomics.store(this.#control, watchdogField.cpuBefore, cpuOf(cpuUsage()))
    Atomics.add(this.#control, watchdogField.run, 1)
    Atomics.store(this.#control, watchdogField.state, watchdogState.running)
    Atomics.notify(this.#control, watchdogField.state)
  }

  /** Set if the program exceeded a limit and is still running. */
  get exceeded(): ExceededLimit | undefined {
    return exceededLimit(Atomics.load(this.#control, watchdogField.state))
  }

  /** Returns the limit the program exceeded, if any. After this no interrupt can hit the next program. */
  end(): ExceededLimit | undefined {
    const exceeded = exceededLimit(Atomics.exchange(this.#control, watchdogField.state, watchdogState.idle))
    Atomics.notify(this.#control, watchdogField.state)
    if (exceeded === undefined) return undefined
    const run = Atomics.load(this.#control, watchdogField.run)
    for (let seen = Atomics.load(this.#control, watchdogField.seen); seen !== run; ) {
      Atomics.wait(this.#control, watchdogField.seen, seen, 100)
      seen = Atomics.load(this.#control, watchdogField.seen)
    }
    this.interrupt[0] = 0
    return exceeded
  }
}

function exceededLimit(state: number): ExceededLimit | undefined {
  if (state === watchdogState.overCpu) return 'cpu'
  return state === watchdogState.overWall ? 'wall' : undefined
}
