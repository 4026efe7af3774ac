import type { z } from 'zod'
import type { Observe, Spotlight } from '../base/progress/index.ts'
import type { MetricRow, Run } from '../store/index.ts'

export interface StageContext<Config> {
  run: Run
  /** The sections of the settings that the stage reads. */
  config: Config
  observe: Observe
  signal: AbortSignal
  /** Called with the metrics row of each training step. */
  onMetric?: (row: MetricRow) => void
  /** Called once with a description of the hardware and engine that training runs on. */
  onRuntime?: (text: string) => void
  /** Called with findings the user should know about: how tasks are read, and what goes wrong in training. */
  onFinding?: (text: string) => void
  /** Shows text as it is being written. */
  spotlight?: Spotlight
}

export interface StageSummary {
  /** Stored in the run's manifest. */
  figures: Record<string, number>
}

/** What a stage reads from the run folder and writes to it: record kinds, or names of files and folders. */
type Place = string

/**
 * One step of the pipeline. It reads from the run folder and writes to it, and never calls another stage. Commands,
 * the quickstart and the library run it through `runStage`.
 */
export interface Stage<Config, Options extends object = object, Summary extends StageSummary = StageSummary> {
  name: string
  /** A short description. */
  purpose: string
  /** The sections of the settings that the stage defines. */
  settings: Readonly<Record<string, z.ZodType>>
  reads: readonly Place[]
  writes: readonly Place[]
  run: (context: StageContext<Config>, options?: Options) => Promise<Summary>
  /** A one-line summary of the result. */
  describe: (figures: Record<string, number>) => string
}
