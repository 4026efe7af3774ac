import type { Random } from '../../../../base/random/index.ts'
import type { Json } from '../draft.ts'

/** One step of a pipeline: Python that updates the variable `values`, and the same in TypeScript. */
export interface Stage<In extends Json, Out extends Json = In> {
  name: string
  /** The instruction: "Drop …". */
  text: string
  python: string
  run(values: In): Out
  /** A faulty variant of the step. */
  mistake?: { text: string; python: string; run(values: In): Out }
}

export type StageMaker<In extends Json, Out extends Json = In> = (random: Random) => Stage<In, Out>
