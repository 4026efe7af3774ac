/** Shared between a worker's main thread and its watchdog thread. */
export interface WatchdogData {
  parent: number
  control: Int32Array
  interrupt: Uint8Array
}

export const watchdogField = {
  state: 0,
  run: 1,
  /** The last run over its limit that the watchdog thread has released. */
  seen: 2,
  /** Limits of the current program, and the CPU time used by the process before it. */
  cpuMs: 3,
  wallMs: 4,
  cpuBefore: 5,
} as const
export const watchdogFieldCount = 6

/** The last two mean that the program exceeded that limit and is still running. */
export const watchdogState = { idle: 0, running: 1, overCpu: 2, overWall: 3 } as const

/** CPU time of this process, all threads together; the compiler threads add very little. */
export function cpuOf({ user, system }: NodeJS.CpuUsage): number {
  return Math.round((user + system) / 1000)
}
