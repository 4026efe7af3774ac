import type { z } from 'zod'
import { Checkpoint } from './checkpoint.ts'
import { DeclaredTool } from './declared-tool.ts'
import { EvalAttempt, EvalReport } from './eval-report.ts'
import { Mark } from './mark.ts'
import { PassRate } from './pass-rate.ts'
import { Rollout } from './rollout.ts'
import { Stream } from './stream.ts'
import { Task } from './task.ts'
import { Trajectory } from './trajectory.ts'

/**
 * The schema of every kind of stored record, by the kind it is stored under. Each record has `v` and an `id` supplied by the caller.
 */
export const recordSchemas = {
  task: Task,
  tool: DeclaredTool,
  trajectory: Trajectory,
  sequence: Stream,
  rollout: Rollout,
  checkpoint: Checkpoint,
  attempt: EvalAttempt,
  eval: EvalReport,
  'pass-rate': PassRate,
  mark: Mark,
} as const

export type RecordKind = keyof typeof recordSchemas
export type RecordOf<K extends RecordKind> = z.infer<(typeof recordSchemas)[K]>

export const recordKinds = Object.keys(recordSchemas) as RecordKind[]
