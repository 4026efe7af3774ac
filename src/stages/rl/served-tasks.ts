import { UsageError } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'

/**
 * The questions of a run's served chains to which feedback, or the run itself, has an answer. The chains themselves were sampled by
 * another policy, so RL samples its own.
 */
export function servedTasks(run: Pick<Run, 'id' | 'get' | 'scan'>): Task[] {
  const asked = new Set<string>()
  for (const { taskId, meta } of run.scan('rollout')) if (meta['served'] !== undefined) asked.add(taskId)
  const tasks = [...asked].flatMap((id) => run.get('task', id) ?? []).filter(isForTraining)
  const answered = tasks.filter(({ gold }) => gold.checker !== 'none')
  if (answered.length > 0) return answered
  if (asked.size === 0)
    throw new UsageError(`run ${run.id} has no served chains`, {
      fix: 'Record some with `coa serve --record`.',
    })
  throw new UsageError(
    `none of the ${tasks.length} questions in run ${run.id} has an answer to check rollouts against`,
    {
      fix: 'Send the right answers with `POST /v1/feedback` ("answer"), or a verifier\'s verdict ("outcome": "correct").',
    },
  )
}

/** Evaluation questions are never trained on, even if somebody asks them. */
const isForTraining = ({ meta, split = 'train' }: Task): boolean =>
  meta['for'] !== 'eval' && split === 'train'
