/**
 * Runs as a thread of a worker, next to a program that may never return. It kills the worker when the parent is gone.
 * At the CPU and wall time limits it interrupts the interpreter, which avoids a restart if the program stops. If it
 * does not, the thread kills the worker with SIGXCPU at the CPU limit; at the wall limit the pool kills it.
 */
import { constants } from 'node:os'
import { workerData } from 'node:worker_threads'
import { cpuOf, type WatchdogData, watchdogField, watchdogState } from './watchdog-state.ts'

const { parent, control, interrupt } = workerData as WatchdogData
/** SIGINT: Python raises KeyboardInterrupt. */
const interruptSignal = 2
const checkIntervalMs = 500
/** Extra CPU time for a program to react to the interrupt. */
const graceMs = 250
const cpuLimitSignal = 'SIGXCPU' in constants.signals ? 'SIGXCPU' : 'SIGKILL'

function checkParent(): void {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
}

for (;;) {
  checkParent()
  if (Atomics.load(control, watchdogField.state) !== watchdogState.running) {
    Atomics.wait(control, watchdogField.state, watchdogState.idle, checkIntervalMs)
    continue
  }
  const run = Atomics.load(control, watchdogField.run)
  const deadline = performance.now() + Atomics.load(control, watchdogField.wallMs)
  const cpuBefore = Atomics.load(control, watchdogField.cpuBefore)
  const cpuMs = Atomics.load(control, watchdogField.cpuMs)
  const cpuLeft = (): number => cpuMs - (cpuOf(process.cpuUsage()) - cpuBefore)
  const wallLeft = (): number => deadline - performance.now()
  const running = (): boolean =>
    Atomics.load(control, watchdogField.state) === watchdogState.running &&
    Atomics.load(control, watchdogField.run) === run
  for (let left = Math.min(cpuLeft(), wallLeft()); left > 0 && running(); ) {
    Atomics.wait(
      control,
      watchdogField.state,
      watchdogState.running,
      Math.min(checkIntervalMs, Math.max(left, 10)),
    )
    checkParent()
    left = Math.min(cpuLeft(), wallLeft())
  }
  const exceeded = cpuLeft() <= 0 ? watchdogState.overCpu : watchdogState.overWall
  if (!running()) continue
  const claimed =
    Atomics.compareExchange(control, watchdogField.state, watchdogState.running, exceeded) ===
    watchdogState.running
  // Repeatedly, because a program can catch it.
  while (claimed && Atomics.load(control, watchdogField.state) === exceeded) {
    interrupt[0] = interruptSignal
    Atomics.wait(control, watchdogField.state, exceeded, 20)
    checkParent()
    if (exceeded === watchdogState.overCpu && cpuLeft() < -graceMs) process.kill(process.pid, cpuLimitSignal)
  }
  Atomics.store(control, watchdogField.seen, run)
  Atomics.notify(control, watchdogField.seen)
}
