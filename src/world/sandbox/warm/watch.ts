import { Worker } from 'node:worker_threads'
import { cpuOf, type WatchData, watchField, watchFields, watchState } from './watch-state.ts'

/** Which limit a program passed. */
export type Late = 'cpu' | 'wall'

/** Taken before the global object is emptied. */
const cpuUsage = process.cpuUsage.bind(process)

/** The thread beside a child's main thread; see parent-watch. */
export class Watch {
  readonly #control = new Int32Array(new SharedArrayBuffer(4 * watchFields))
  /** Where an interpreter looks for requests to stop. */
  readonly interrupt = new Uint8Array(new SharedArrayBuffer(1))

  constructor() {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const thread = new Worker(new URL(`./parent-watch.${extension}`, import.meta.url), {
      // The parent's id is taken now, for it may be gone before the thread first looks.
      workerData: {
        parent: process.ppid,
        control: this.#control,
        interrupt: this.interrupt,
      } satisfies WatchData,
      env: {},
    })
    thread.unref()
  }

  begin({ cpuMs, wallMs }: { cpuMs: number; wallMs: number }): void {
    Atomics.store(this.#control, watchField.cpuMs, cpuMs)
    Atomics.store(this.#control, watchField.wallMs, wallMs)
    Atomics.store(this.#control, watchField.cpuBefore, cpuOf(cpuUsage()))
    Atomics.add(this.#control, watchField.run, 1)
    Atomics.store(this.#control, watchField.state, watchState.running)
    Atomics.notify(this.#control, watchField.state)
  }

  /** The program was asked to stop and goes on. */
  get late(): Late | undefined {
    return lateBy(Atomics.load(this.#control, watchField.state))
  }

  /** Says whether the program was late. No request to stop can come after this, when the next one runs. */
  end(): Late | undefined {
    const late = lateBy(Atomics.exchange(this.#control, watchField.state, watchState.idle))
    Atomics.notify(this.#control, watchField.state)
    if (late === undefined) return undefined
    const run = Atomics.load(this.#control, watchField.run)
    for (let seen = Atomics.load(this.#control, watchField.seen); seen !== run; ) {
      Atomics.wait(this.#control, watchField.seen, seen, 100)
      seen = Atomics.load(this.#control, watchField.seen)
    }
    this.interrupt[0] = 0
    return late
  }
}

function lateBy(state: number): Late | undefined {
  if (state === watchState.lateByCpu) return 'cpu'
  return state === watchState.lateByWall ? 'wall' : undefined
}
