import { sequenceOfRollout } from '../../agent/index.ts'
import { latestMarks, type Stream } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'

/**
 * The sequences of rollouts that were marked good, such as chains that `coa serve --record` stored. Nothing is distilled: a student
 * already writes one stream.
 */
export function* markedRollouts(
  run: Pick<Run, 'get' | 'scan'>,
  isHeldOut: (taskId: string) => boolean,
): Generator<Stream> {
  for (const { of, rating, verdict } of latestMarks(run.scan('mark')).values()) {
    if (rating !== 'good') continue
    const rollout = run.get('rollout', of.id)
    if (rollout === undefined || rollout.failure !== undefined || isHeldOut(rollout.taskId)) continue
    const suite = run.get('task', rollout.taskId)?.suite
    const sequence = sequenceOfRollout(rollout, 'rollout', suite === undefined ? {} : { suite })
    // What `coa check` found out about it earlier remains known.
    const checked = verdict ?? sequence.verdict ?? run.get('sequence', sequence.id)?.verdict
    yield { ...sequence, ...(checked === undefined ? {} : { verdict: checked }) }
  }
}
