import {
  modelFolder,
  openStudent,
  openWorld,
  type Policy,
  rollOutWatched,
  rolloutSettings,
  sequenceOfRollout,
} from '../../agent/index.ts'
import type { RolloutSection, StudentConfig } from '../../agent/settings.ts'
import { inParallel } from '../../base/concurrency/index.ts'
import { allFailed, type Failure } from '../../base/errors/index.ts'
import { fingerprintOfFolder } from '../../engine/index.ts'
import type { Stream, Task } from '../../schema/index.ts'
import type { ProjectSection } from '../../settings/index.ts'
import type { WorldConfig } from '../../world/settings.ts'
import type { StageContext } from '../stage.ts'
import type { TeachSection } from './settings.ts'

/** What marks sequences that the student wrote itself. */
const studentOrigin = 'student'

export interface StudentRoundConfig extends StudentConfig, WorldConfig {
  project: ProjectSection
  teach: TeachSection
  rollout: RolloutSection
}

export interface StudentRound {
  rollouts: number
  correct: number
  wrong: number
  undecided: number
  unanswered: number
  failed: number
  'tool calls': number
}

/**
 * Rejection sampling: the student itself solves the tasks as a chain, several times each. Every rollout becomes a sequence with its
 * verdict; the filter then keeps the correct ones, as with a team's. Nothing is distilled: the student already writes one stream.
 */
export async function studentRound(
  config: StudentRoundConfig,
  tasks: readonly Task[],
  { run, signal, observe, spotlight }: Omit<StageContext<unknown>, 'config'>,
): Promise<StudentRound> {
  const folder = modelFolder(config.student.model)
  // A later round with a trained student adds to the sequences, it does not replace them.
  const weights = fingerprintOfFolder(folder).slice(0, 8)
  const idOf = (task: Task, seed: number): string => `${task.id}@${studentOrigin}-${weights}-${seed}`
  const { runs, until_correct: untilCorrect } = config.teach
  const seeds = Array.from({ length: runs }, (_, number) => config.project.seed + number)
  const isCorrect = (id: string): boolean => run.get('sequence', id)?.verdict?.outcome === 'correct'
  const jobs = tasks.flatMap((task) => {
    if (untilCorrect && seeds.some((seed) => isCorrect(idOf(task, seed)))) return []
    const missing = seeds.filter((seed) => !run.has('sequence', idOf(task, seed)))
    if (untilCorrect) return missing.length === 0 ? [] : [{ task, seeds: missing }]
    return missing.map((seed) => ({ task, seeds: [seed] }))
  })
  const total = tasks.length * runs
  let done = total - jobs.reduce((sum, { seeds }) => sum + seeds.length, 0)
  const failures: Failure[] = []
  if (jobs.length > 0) {
    observe({ stage: 'teach', done, total, unit: 'rollouts' })
    const world = await openWorld(config, run)
    const student = await openStudent(config, folder, undefined, observe)
    const policy: Policy = { ...student, checkpoint: folder }
    const settings = rolloutSettings(config)
    try {
      await inParallel(jobs, config.rollout.concurrency, async ({ task, seeds }) => {
        for (const [at, seed] of seeds.entries()) {
          const id = idOf(task, seed)
          const job = { task, id, groupId: task.id, seed }
          const rollout = await rollOutWatched(job, policy, world, settings, { signal, spotlight })
          // Something outside of the student failed, so it says nothing about the student; the next run tries again.
          if (rollout.failure !== undefined) failures.push(rollout.failure)
          else
            run.append(
              'sequence',
              sequenceOfRollout(rollout, studentOrigin, {
                ...(task.split === undefined ? {} : { split: task.split }),
                attempt: seed - config.project.seed + 1,
              }),
            )
          const isEnough = untilCorrect && rollout.verdict?.outcome === 'correct'
          done += isEnough ? seeds.length - at : 1
          observe({ stage: 'teach', done, total, unit: 'rollouts' })
          if (isEnough) break
        }
      })
    } finally {
      await student.engine.close()
      await world.close()
    }
  }
  const ids = new Set(tasks.flatMap((task) => seeds.map((seed) => idOf(task, seed))))
  const made = [...run.scan('sequence')].filter(({ id }) => ids.has(id))
  if (made.length === 0 && failures.length > 0)
    throw allFailed('rollouts', failures, `Fix the cause, then resume with \`coa teach ${run.id}\`.`)
  return counted(made, failures.length)
}

function counted(sequences: readonly Stream[], failed: number): StudentRound {
  const round = {
    rollouts: sequences.length + failed,
    correct: 0,
    wrong: 0,
    undecided: 0,
    unanswered: 0,
    failed,
    'tool calls': 0,
  }
  for (const { verdict, meta, spans } of sequences) {
    if (meta['unanswered'] === true) round.unanswered++
    else if (verdict !== undefined) round[verdict.outcome]++
    round['tool calls'] += spans.filter(({ kind }) => kind === 'call').length
  }
  return round
}
