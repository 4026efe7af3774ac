import type { z } from 'zod'
import type { Observe, Spotlight } from '../base/progress/index.ts'
import type { MetricRow, Run } from '../store/index.ts'

export interface StageContext<Config> {
  run: Run
  /** The sections that it reads. */
  config: Config
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

export interface StageSummary {
  /** What is worth keeping in the run's manifest. */
  figures: Record<string, number>
}

/** What a stage takes from the run folder and leaves there: kinds of records, or names of files and folders. */
type Place = string

/**
 * One step of the method. It reads from the run folder and writes to it, and never calls another. Commands, the
 * quickstart and the library run it through `runStage`.
 */
export interface Stage<Config, Options extends object = object, Summary extends StageSummary = StageSummary> {
  name: string
  /** What it does, in a few words, for people. */
  purpose: string
  /** Its own sections of the settings. */
  settings: Readonly<Record<string, z.ZodType>>
  reads: readonly Place[]
  writes: readonly Place[]
  run: (context: StageContext<Config>, options?: Options) => Promise<Summary>
  /** The outcome in one line. */
  describe: (figures: Record<string, number>) => string
}
