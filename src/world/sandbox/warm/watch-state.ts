/** What a child's main thread and its watching thread share. */
export interface WatchData {
  parent: number
  control: Int32Array
  interrupt: Uint8Array
}

export const watchField = {
  state: 0,
  run: 1,
  /** The last late run that the watching thread has let go of. */
  seen: 2,
  /** Limits of the program that runs, and what the process had used of its processor time before it. */
  cpuMs: 3,
  wallMs: 4,
  cpuBefore: 5,
} as const
export const watchFields = 6

/** The last two: the program is past that limit and goes on. */
export const watchState = { idle: 0, running: 1, lateByCpu: 2, lateByWall: 3 } as const

/** Processor time of this process, all threads together: those of the machine code's compiler add next to nothing. */
export function cpuOf({ user, system }: NodeJS.CpuUsage): number {
  return Math.round((user + system) / 1000)
}
