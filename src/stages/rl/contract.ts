import type { RolloutJob } from '../../agent/contract.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { CheckpointNote, Engine } from '../../engine/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import type { MetricRow, Run } from '../../store/index.ts'
import type { CompareGroup } from './compare-group.ts'
import type { Replay } from './replay.ts'

interface Student {
  engine: Engine
  /** The initial model, for the lineage of checkpoints. */
  parent?: CheckpointNote['parent']
  /** A frozen copy of the initial model, needed for rl.kl. */
  reference?: Pick<Engine, 'forward'> | undefined
}

export interface RolloutOptions {
  /** Aborts this rollout: it is no longer needed. */
  signal: AbortSignal
  /** The training step of weights with this version (see `Sample.versions`); without one, the current step. */
  stepOf: (version?: number) => number
}

export interface Measured {
  accuracy: number
  wellFormed: number
  count: number
}

export interface RlContext {
  run: Run
  signal: AbortSignal
  observe: Observe
  student: Student
  /**
   * Samples one rollout with the engine's current weights; `checkpoint` names them in the record. With rl.overlap the
   * weights may change meanwhile, and the rest is sampled with the new ones.
   */
  rollOut: (job: RolloutJob, checkpoint: string, options: RolloutOptions) => Promise<Rollout>
  /** Compares the rollouts of a task with each other, for rl.reward = "relative-judge". */
  compare?: CompareGroup | undefined
  tasks: readonly Task[]
  /** Weighted examples of SFT data to add to a step, for rl.replay. */
  replay?: Replay | undefined
  /** Evaluates the current weights on tasks that are not trained on. With it, rl.keep is "best" by default. */
  evaluate?: ((step: number) => Promise<Measured>) | undefined
  /** Restart, discarding earlier checkpoints. */
  again?: boolean
  /** Called after each step. */
  onStep?: ((row: MetricRow) => void) | undefined
  /** Called once for each problem found. */
  onFinding?: ((text: string) => void) | undefined
}

/** A rollout with a verdict. */
export interface Scored {
  rollout: Rollout
  reward: number
  isCorrect: boolean
}

/** Rollouts of one prompt, which are compared with each other. */
export interface Group {
  id: string
  taskId: string
  members: Scored[]
}
