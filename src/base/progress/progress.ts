/** Progress of a piece of work. Stages only report it; how it is displayed is up to the caller. */
export interface Progress {
  /** What is being done, such as "reindex" or "sequences". */
  stage: string
  done: number
  /** Undefined if unknown. */
  total?: number | undefined
  /** The unit being counted, such as "records". */
  unit?: string
}

export type Observe = (progress: Progress) => void
