/**
 * Runs as a thread of a warm child, beside a program that may never return. It kills the child when the parent is
 * gone, and at the limits of processor and wall time asks the interpreter to stop, which saves a new start where the
 * program obeys. One that does not is ended with the signal that the kernel has for too much processor time; at the
 * wall limit the pool ends it.
 */
import { constants } from 'node:os'
import { workerData } from 'node:worker_threads'
import { cpuOf, type WatchData, watchField, watchState } from './watch-state.ts'

const { parent, control, interrupt } = workerData as WatchData
/** What Python takes for Ctrl-C. */
const interruptSignal = 2
const lookAgainMs = 500
/** How much more processor time a program may use to obey. */
const graceMs = 250
const endOfTime = 'SIGXCPU' in constants.signals ? 'SIGXCPU' : 'SIGKILL'

function look(): void {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
}

for (;;) {
  look()
  if (Atomics.load(control, watchField.state) !== watchState.running) {
    Atomics.wait(control, watchField.state, watchState.idle, lookAgainMs)
    continue
  }
  const run = Atomics.load(control, watchField.run)
  const deadline = performance.now() + Atomics.load(control, watchField.wallMs)
  const cpuBefore = Atomics.load(control, watchField.cpuBefore)
  const cpuMs = Atomics.load(control, watchField.cpuMs)
  const cpuLeft = (): number => cpuMs - (cpuOf(process.cpuUsage()) - cpuBefore)
  const wallLeft = (): number => deadline - performance.now()
  const running = (): boolean =>
    Atomics.load(control, watchField.state) === watchState.running &&
    Atomics.load(control, watchField.run) === run
  for (let left = Math.min(cpuLeft(), wallLeft()); left > 0 && running(); ) {
    Atomics.wait(control, watchField.state, watchState.running, Math.min(lookAgainMs, Math.max(left, 10)))
    look()
    left = Math.min(cpuLeft(), wallLeft())
  }
  const late = cpuLeft() <= 0 ? watchState.lateByCpu : watchState.lateByWall
  if (!running()) continue
  const claimed =
    Atomics.compareExchange(control, watchField.state, watchState.running, late) === watchState.running
  // Again and again: a program can catch it.
  while (claimed && Atomics.load(control, watchField.state) === late) {
    interrupt[0] = interruptSignal
    Atomics.wait(control, watchField.state, late, 20)
    look()
    if (late === watchState.lateByCpu && cpuLeft() < -graceMs) process.kill(process.pid, endOfTime)
  }
  Atomics.store(control, watchField.seen, run)
  Atomics.notify(control, watchField.seen)
}
