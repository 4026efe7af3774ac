import { Worker } from 'node:worker_threads'
import { type WatchData, watchField, watchState } from './watch-state.ts'

/** The thread beside a child's main thread; see parent-watch. */
export class Watch {
  readonly #control = new Int32Array(new SharedArrayBuffer(12))
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

  begin(wallMs: number): void {
    Atomics.add(this.#control, watchField.run, 1)
    Atomics.store(this.#control, watchField.state, wallMs)
    Atomics.notify(this.#control, watchField.state)
  }

  /** The program was asked to stop and goes on. */
  get late(): boolean {
    return Atomics.load(this.#control, watchField.state) === watchState.late
  }

  /** Says whether the program was late. No request to stop can come after this, when the next one runs. */
  end(): boolean {
    const late = Atomics.exchange(this.#control, watchField.state, watchState.idle) === watchState.late
    Atomics.notify(this.#control, watchField.state)
    if (!late) return false
    const run = Atomics.load(this.#control, watchField.run)
    for (let seen = Atomics.load(this.#control, watchField.seen); seen !== run; ) {
      Atomics.wait(this.#control, watchField.seen, seen, 100)
      seen = Atomics.load(this.#control, watchField.seen)
    }
    this.interrupt[0] = 0
    return true
  }
}
