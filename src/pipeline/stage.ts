import type { ProjectConfig } from '../config/index.ts'
import type { Observe } from '../observe/index.ts'
import type { Run } from '../store/index.ts'

export interface StageContext {
  run: Run
  config: ProjectConfig
  observe: Observe
  signal: AbortSignal
}

/** One step of the method. It reads from the run folder and writes to it; it never calls another. */
export interface Stage {
  name: string
  /** What it does, in a few words, for people. */
  purpose: string
  /** Undefined while the stage is not part of coa yet. Returns figures worth showing. */
  work?: (context: StageContext) => Promise<Record<string, number>>
}
