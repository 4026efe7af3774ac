import { inParallel } from '../base/concurrency/index.ts'
import { allFailed, type Failure } from '../base/errors/index.ts'
import type { Spotlight } from '../base/progress/index.ts'
import { seedOf } from '../base/random/index.ts'
import type { Rollout, Task } from '../schema/index.ts'
import type { World } from '../world/index.ts'
import type { Policy, RolloutSettings } from './contract.ts'
import { rollOutWatched } from './roll-out-watched.ts'

interface Tries {
  correct: number
  wrong: number
  /** Those that say nothing about the model. */
  undecided: number
}

export interface PassRateOptions {
  /** At each task. */
  tries: number
  seed: number
  concurrency: number
  signal: AbortSignal
  spotlight?: Spotlight | undefined
  /** Told of each task when all its tries are done and one of them could be judged. */
  onTask: (task: Task, tries: Tries) => void
  /** Told after each rollout how many are done. */
  onRollout?: (done: number) => void
}

/** How often a policy solves each of these tasks. That no try of any task could be judged is an error, not a rate of 0. */
export async function passRates(
  tasks: readonly Task[],
  policy: Policy,
  world: World,
  settings: RolloutSettings,
  { tries, seed, concurrency, signal, spotlight, onTask, onRollout }: PassRateOptions,
): Promise<void> {
  const counts = tasks.map((): Tries => ({ correct: 0, wrong: 0, undecided: 0 }))
  const failures: Failure[] = []
  const jobs = tasks.flatMap((task, at) =>
    Array.from({ length: tries }, (_, number) => ({ task, at, number })),
  )
  let done = 0
  await inParallel(jobs, concurrency, async ({ task, at, number }) => {
    const groupId = `pass-rate ${task.id}`
    const job = {
      task,
      groupId,
      id: `${groupId} ${number}`,
      seed: seedOf('pass-rate', seed, task.id, number),
    }
    const rollout = await rollOutWatched(job, policy, world, settings, { signal, spotlight })
    const count = counts[at]!
    count[outcomeOf(rollout)]++
    if (rollout.failure !== undefined) failures.push(rollout.failure)
    onRollout?.(++done)
    const judged = count.correct + count.wrong
    if (judged > 0 && judged + count.undecided === tries) onTask(task, count)
  })
  if (failures.length > 0 && failures.length === jobs.length)
    throw allFailed('rollouts', failures, 'Correct the cause, then try again; `coa doctor` checks the setup.')
}

/** As RL judges them: what failed outside of the model, or was stopped by the clock, is neither right nor wrong. */
function outcomeOf({ failure, stop, verdict }: Rollout): keyof Tries {
  if (failure !== undefined || stop === 'failed' || stop === 'time') return 'undecided'
  return verdict?.outcome ?? 'wrong'
}
