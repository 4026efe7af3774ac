import { UsageError } from '../../base/errors/index.ts'
import type { Task } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { type ContaminationConfig, readEvalQuestions, suiteName, tasksToPractise } from '../../tasks/index.ts'
import type { RlSection } from './settings.ts'

export interface Practice {
  tasks: Task[]
  /** Whether they come from the configured sources, which then also provide evaluation tasks. */
  fromSettings: boolean
}

export interface PracticeOptions {
  /** The sources were named explicitly, so they are used whatever the run was recorded from. */
  asked?: boolean
  /** Questions of served chains: they are used instead of the configured sources. */
  served?: readonly Task[] | undefined
  /** Called if the tasks do not come from the configured sources, and if some of them are left out. */
  onNote?: ((note: string) => void) | undefined
}

/**
 * The tasks for RL: those that follow the ones the team was given, so that no question is repeated. An exhausted
 * source provides its tasks a second time. A run recorded from other tasks than the configured ones uses its own.
 * They are stored in the run, marked, and are never given to a team.
 */
export async function practiceTasks(
  run: Run,
  config: ContaminationConfig & { rl: RlSection },
  options: PracticeOptions = {},
): Promise<Practice> {
  const { tasks, fromSettings } = await allPracticeTasks(run, config, options)
  return { tasks: await withoutContaminated(tasks, run, config, options), fromSettings }
}

/** Practicing an evaluation question, or a paraphrase of one, would invalidate the evaluation as training on it would. */
async function withoutContaminated(
  tasks: Task[],
  run: Run,
  config: ContaminationConfig,
  { onNote }: PracticeOptions,
): Promise<Task[]> {
  const questions = await readEvalQuestions(config, { run, onNote })
  const reasons = new Map<string, number>()
  const clean = tasks.filter(({ question }) => {
    const found = questions.contamination(question)
    if (found !== undefined) reasons.set(found.reason, (reasons.get(found.reason) ?? 0) + 1)
    return found === undefined
  })
  if (clean.length === tasks.length) return tasks
  const why = [...reasons].map(([reason, count]) => `${count} × ${reason}`).join(', ')
  const note = `not practicing on ${tasks.length - clean.length} of ${tasks.length} tasks: ${why}`
  if (clean.length === 0)
    throw new UsageError(note, { fix: 'Use other tasks, or change filter.against and filter.paraphrases.' })
  onNote?.(note)
  return clean
}

async function allPracticeTasks(
  run: Run,
  config: ContaminationConfig & { rl: RlSection },
  { asked = false, served, onNote }: PracticeOptions,
): Promise<Practice> {
  const known = [...run.scan('task')]
  const own = known.filter(({ meta }) => meta['for'] === undefined)
  const marked = known.filter(({ meta }) => meta['for'] === 'rl')
  if (served !== undefined)
    return { tasks: keep(run, served, { for: 'rl', from: 'served' }), fromSettings: false }
  if (marked.length > 0 && !asked)
    return { tasks: marked, fromSettings: marked.some(({ meta }) => meta['from'] !== 'served') }
  const sources = config.tasks.suites.map(suiteName).join(', ')
  if (own.length === 0 && run.count('trajectory') > 0 && !asked) {
    throw new UsageError(`run ${run.id} was recorded without its tasks, so there is nothing to train on`, {
      fix: `Add them with \`coa run import ${run.id} task FILE\`, or train on others: \`coa rl ${run.id} --suites ${sources}\`.`,
    })
  }
  const found = await tasksToPractise(config, config.rl.task_count)
  const suites = new Set(found.map(({ suite }) => suite))
  if (!asked && own.length > 0 && !own.some(({ suite }) => suites.has(suite))) {
    const tasks = own.filter(({ split = 'train' }) => split === 'train')
    const recorded = [...new Set(own.map(({ suite }) => suite))].join(', ')
    onNote?.(
      `training on the run's own ${tasks.length} tasks (${recorded}): it was not recorded from ${sources}`,
    )
    return { tasks: refuseNone(run, tasks), fromSettings: false }
  }
  return { tasks: keep(run, refuseNone(run, found), { for: 'rl' }), fromSettings: true }
}

/** Stores the tasks in the run, marked. */
function keep(run: Run, found: readonly Task[], marks: Task['meta']): Task[] {
  const tasks = found.map((task) => {
    const known = run.get('task', task.id)
    // With the same id it would replace the task that the team was given.
    const id = known !== undefined && known.meta['for'] === undefined ? `${task.id}+rl` : task.id
    return { ...task, id, meta: { ...task.meta, ...marks } }
  })
  for (const task of tasks) run.append('task', task)
  return tasks
}

function refuseNone(run: Run, tasks: Task[]): Task[] {
  if (tasks.length > 0) return tasks
  throw new UsageError(`there are no tasks of split train for RL in run ${run.id}`, {
    fix: 'Name sources that have such tasks with --suites.',
  })
}
