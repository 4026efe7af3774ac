import { inParallel } from '../base/concurrency/index.ts'
import { allFailed, type Failure } from '../base/errors/index.ts'
import type { Spotlight } from '../base/progress/index.ts'
import { seedOf } from '../base/random/index.ts'
import type { Rollout, Task } from '../schema/index.ts'
import type { World } from '../world/index.ts'
import type { Policy, RolloutSettings } from './contract.ts'
import { rollOutWatched } from './roll-out.ts'

interface Tries {
  correct: number
  wrong: number
  /** Rollouts without a verdict. */
  undecided: number
}

export interface PassRateOptions {
  /** Rollouts per task. */
  tries: number
  seed: number
  concurrency: number
  signal: AbortSignal
  spotlight?: Spotlight | undefined
  /** Called for each task when all its rollouts are done and at least one has a verdict. */
  onTask: (task: Task, tries: Tries) => void
  /** Called after each rollout with the number done. */
  onRollout?: (done: number) => void
}

/**
 * Measures how often a policy solves each task. If no rollout of any task has a verdict, that is an error, not a pass
 * rate of 0.
 */
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
    throw allFailed('rollouts', failures, 'Fix the cause, then try again; `coa doctor` checks the setup.')
}

/** As in RL: external failures and timeouts are neither correct nor wrong. */
function outcomeOf({ failure, stop, verdict }: Rollout): keyof Tries {
  if (failure !== undefined || stop === 'failed' || stop === 'time') return 'undecided'
  return verdict?.outcome ?? 'wrong'
}
