import { type Policy, type RolloutSettings, rollOutWatched, type World } from '../../agent/index.ts'
import { digestOf } from '../../base/digests/index.ts'
import type { Spotlight } from '../../base/progress/index.ts'
import { attemptOfRollout } from './attempt-of-rollout.ts'
import type { Solver } from './contract.ts'
import { tokenizerName } from './token-tally.ts'

export interface ModelSolverOptions {
  name: string
  /** Digest of the weights. */
  fingerprint: string
  policy: Policy
  world: World
  settings: RolloutSettings
  spotlight?: Spotlight
}

/**
 * The trained model alone, with live tools, as a solver: the same prompt, runtime and checker as in training.
 *
 * @example
 * import { modelSolver, openStudent, openWorld, ProjectConfig, rolloutSettings } from 'chain-of-agents'
 * import { verifyCheckpoint } from 'chain-of-agents/engine'
 *
 * const config = ProjectConfig.parse({})
 * const { fingerprint } = verifyCheckpoint('models/mine')
 * const policy = { ...(await openStudent(config, 'models/mine')), checkpoint: 'mine' }
 * const [world, settings] = [await openWorld(config), rolloutSettings(config)]
 * const student = modelSolver({ name: 'student', fingerprint, policy, world, settings })
 */
export function modelSolver({
  name,
  fingerprint,
  policy,
  world,
  settings,
  spotlight,
}: ModelSolverOptions): Solver {
  return {
    name,
    kind: 'model',
    how: digestOf(fingerprint, settings),
    tokenizer: tokenizerName(policy.tokenizer),
    async solve(task, attempt, seed, signal) {
      const job = { task, id: `${name}|${task.id}#${attempt}`, groupId: `${name}|${task.id}`, seed }
      return attemptOfRollout(await rollOutWatched(job, policy, world, settings, { signal, spotlight }))
    },
  }
}
