import type { Observe, Spotlight } from '../base/progress/index.ts'
import type { ProjectConfig } from '../settings/index.ts'
import type { MetricRow, Run } from '../store/index.ts'

export interface StageContext {
  run: Run
  config: ProjectConfig
  observe: Observe
  signal: AbortSignal
  /** Told of the row of each training step. */
  onMetric?: (row: MetricRow) => void
  /** Told first what the model is trained on, in words. */
  onRuntime?: (text: string) => void
  /** Told once, in words, of what a person should know: how tasks are read, and what goes wrong in training. */
  onFinding?: (text: string) => void
  /** Shows what is being written. */
  spotlight?: Spotlight
}

/** One step of the method. It reads from the run folder and writes to it; it never calls another. */
export interface Stage {
  name: string
  /** What it does, in a few words, for people. */
  purpose: string
  /** Returns figures worth keeping. */
  work: (context: StageContext) => Promise<Record<string, number>>
  /** What came of it in one line. */
  describe: (figures: Record<string, number>) => string
}
