/** What a child's main thread and its watching thread share. */
export interface WatchData {
  parent: number
  control: Int32Array
  interrupt: Uint8Array
}

export const watchField = {
  /** `idle`, `late`, or the wall limit in milliseconds of the program that runs. */
  state: 0,
  run: 1,
  /** The last late run that the watching thread has let go of. */
  seen: 2,
} as const

export const watchState = { idle: 0, late: -1 } as const
