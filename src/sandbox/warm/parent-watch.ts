/**
 * Runs as a thread of a warm child, beside a program that may never return. It kills the child when the parent is
 * gone, and at the wall limit asks the interpreter to stop, which saves a new start where the program obeys.
 */
import { workerData } from 'node:worker_threads'
import { type WatchData, watchField, watchState } from './watch-state.ts'

const { parent, control, interrupt } = workerData as WatchData
/** What Python takes for Ctrl-C. */
const interruptSignal = 2
const lookAgainMs = 500

function look(): void {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
}

for (;;) {
  look()
  const wallMs = Atomics.load(control, watchField.state)
  if (wallMs === watchState.idle) {
    Atomics.wait(control, watchField.state, watchState.idle, lookAgainMs)
    continue
  }
  const run = Atomics.load(control, watchField.run)
  const deadline = performance.now() + wallMs
  const running = (): boolean =>
    Atomics.load(control, watchField.state) === wallMs && Atomics.load(control, watchField.run) === run
  while (running() && performance.now() < deadline) {
    Atomics.wait(control, watchField.state, wallMs, Math.min(lookAgainMs, deadline - performance.now()))
    look()
  }
  if (!running()) continue
  const claimed = Atomics.compareExchange(control, watchField.state, wallMs, watchState.late) === wallMs
  // Again and again: a program can catch it.
  while (claimed && Atomics.load(control, watchField.state) === watchState.late) {
    interrupt[0] = interruptSignal
    Atomics.wait(control, watchField.state, watchState.late, 20)
    look()
  }
  Atomics.store(control, watchField.seen, run)
  Atomics.notify(control, watchField.seen)
}
