/** How far a piece of work has come. Stages report; who shows it, and how, is not their business. */
export interface Progress {
  /** What is being done, such as "reindex" or "sequences". */
  stage: string
  done: number
  /** Undefined where the end is not known. */
  total?: number | undefined
  /** Unit of the numbers, such as "records". */
  unit?: string
}

export type Observe = (progress: Progress) => void
