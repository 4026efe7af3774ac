import type { Indexing } from './common.ts'

export interface Session {
  version: string
  /** No actions: every POST is refused with 403. */
  readOnly: boolean
  /** The name of the project's folder, and the folder of its runs, relative to it where possible. */
  project: string
  runs: string
  stages: StageName[]
}

export type StageName = 'teach' | 'distill' | 'filter' | 'sft' | 'rl' | 'eval'
export type StageStatus = 'running' | 'done' | 'failed' | 'interrupted'
/** A run is `idle` if all its stages are done or it has none. */
export type RunState = 'running' | 'idle' | 'failed' | 'interrupted' | 'damaged'

/** Runs are listed newest first. */
export interface RunRow {
  id: string
  state: RunState
  createdAt?: string
  command?: string
  /** What is running, or where it stopped. */
  stage?: string
  bytes: number
  /** By record kind; absent until the run has been indexed. */
  counts?: Record<string, number>
  /** The figure to show first, such as the accuracy of the trained model. */
  headline?: Figure
  /** Why it is damaged. */
  problem?: string
  /** The job of this studio that works on it. */
  job?: string
  canResume: boolean
}

export interface Figure {
  label: string
  value: number
  unit: 'share' | 'count' | 'tokens' | 'seconds' | 'number'
  low?: number
  high?: number
}

export interface StageView {
  name: string
  status: StageStatus
  startedAt: string
  endedAt?: string
  figures: Record<string, unknown>
}

export interface RunOverview extends RunRow {
  coa: string
  stages: StageView[]
  figures: Figure[]
  funnel?: FunnelView
  findings: Finding[]
  /** Damage, and what else the reader should know about the run. */
  notes: string[]
  evals: string[]
  /** The last lines of log.txt. */
  log: string[]
  indexing?: Indexing
}

/** A problem in reinforcement learning, in words. */
export interface Finding {
  id: string
  step: number
  what: string
  cause: string
  advice: string
}

/** A step of the filter. */
export interface FunnelView {
  sequences: number
  kept: number
  copies: number
  unchecked?: number
  stages: { name: string; before: number; after: number }[]
  reasons: { stage: string; reason: string; count: number }[]
  suites: { suite: string; all: number; kept: number }[]
  tools: { tool: string; calls: { all: number; kept: number } }[]
  settings: Record<string, unknown>
}

/** What can be drawn. */
export interface MetricNames {
  stages: { stage: string; names: string[]; steps: number; lastStep: number }[]
}

/** Downsampled so that minima and maxima remain. A value that is not finite is null. */
export interface Curves {
  curves: {
    run: string
    stage: string
    name: string
    steps: number[]
    values: (number | null)[]
    /** Number of rows before downsampling. */
    of: number
  }[]
}
