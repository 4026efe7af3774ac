import type { RolloutJob } from '../../agent/contract.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { CheckpointNote, Engine } from '../../engine/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import type { MetricRow, Run } from '../../store/index.ts'

interface Student {
  engine: Engine
  /** What training begins with, for the lineage of its checkpoints. */
  parent?: CheckpointNote['parent']
  /** A frozen copy of it, needed for rl.kl. */
  reference?: Pick<Engine, 'forward'> | undefined
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
  /** One rollout with the engine's weights as they are; `checkpoint` is their name for the record. */
  rollOut: (job: RolloutJob, checkpoint: string) => Promise<Rollout>
  tasks: readonly Task[]
  /** Measures the weights as they are on tasks that are not trained on. */
  evaluate?: ((step: number) => Promise<Measured>) | undefined
  /** Begin anew, whatever an earlier training has left. */
  again?: boolean
  /** Told of each step when it is done. */
  onStep?: ((row: MetricRow) => void) | undefined
  /** Told once of everything that goes wrong, in words. */
  onFinding?: ((text: string) => void) | undefined
}
