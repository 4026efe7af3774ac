import {
  openStudent,
  openWorld,
  type Policy,
  passRates,
  rolloutSettings,
  type World,
  withoutTools,
} from '../../agent/index.ts'
import { digestOf } from '../../base/digests/index.ts'
import { UsageError } from '../../base/errors/index.ts'
import type { Spotlight } from '../../base/progress/index.ts'
import { fingerprintOfFolder } from '../../engine/index.ts'
import type { PassRate, Task } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import type { StageContext } from '../stage.ts'
import { initialModel, type RlConfig } from './config.ts'
import { practiceTasks } from './practice-tasks.ts'
import {
  outsideRange,
  type QueryCounts,
  QueryFunnel,
  solvedWithoutTools,
  trainedBefore,
} from './query-filters.ts'
import type { RlSection } from './settings.ts'

export interface Chooser extends Pick<StageContext<RlConfig>, 'run' | 'config' | 'observe' | 'signal'> {
  spotlight?: Spotlight | undefined
  /** The model that training starts from. */
  policy: Policy
  fingerprint: string
  world: World
  /** Measure pass rates even if no range is set. */
  measureAll?: boolean
}

export interface Chosen {
  tasks: readonly Task[]
  counts: QueryCounts
  /** Pass rates with tools, of all tasks that got this far. */
  rates: PassRate[]
  /** Number of rollouts sampled; pass rates that were already known need none. */
  rollouts: number
}

/** Filters the training tasks by what the initial model can do. */
export async function chooseTasks(tasks: readonly Task[], chooser: Chooser): Promise<Chosen> {
  const { run, config, measureAll = false } = chooser
  const { disjoint, max_without_tools, pass_rate } = config.rl
  const funnel = new QueryFunnel(tasks)
  let rollouts = 0
  const rated = async (tools: boolean): Promise<Map<string, PassRate>> => {
    const measured = await measuredRates(funnel.kept, tools, chooser)
    rollouts += measured.rollouts
    return measured.rates
  }
  if (disjoint) {
    const isKnown = trainedBefore(questionsOfSequences(run))
    funnel.pass('disjoint', ({ question }) => isKnown(question))
  }
  if (max_without_tools < 1) {
    const known = await rated(false)
    funnel.pass('without tools', ({ id }) => solvedWithoutTools(known.get(id), max_without_tools))
  }
  const [low, high] = pass_rate
  const rates = low !== undefined || measureAll ? await rated(true) : new Map<string, PassRate>()
  if (low !== undefined && high !== undefined)
    funnel.pass('pass rate', ({ id }) => outsideRange(rates.get(id), [low, high]))
  return { tasks: funnel.kept, counts: funnel.counts(), rates: [...rates.values()], rollouts }
}

/** Whether any task filter is configured. */
export function choosesTasks({ rl }: { rl: RlSection }): boolean {
  return rl.disjoint || rl.max_without_tools < 1 || rl.pass_rate.length > 0
}

/** One line about what was left out, most frequent reason first. */
export function chosenInWords({ tasks, kept, reasons }: QueryCounts): string {
  const why = reasons
    .toSorted((one, other) => other.count - one.count)
    .map(({ reason, count }) => `${count} × ${reason}`)
  return `training on ${kept} of ${tasks} tasks${why.length === 0 ? '' : `; left out: ${why.join(', ')}`}`
}

export function refuseNoneChosen(counts: QueryCounts): void {
  if (counts.kept > 0) return
  throw new UsageError(chosenInWords(counts), {
    fix: 'Widen rl.pass_rate, raise rl.max_without_tools, set rl.disjoint to false, or provide more tasks with rl.task_count.',
  })
}

async function measuredRates(
  tasks: readonly Task[],
  tools: boolean,
  { run, config, observe, signal, spotlight, policy, fingerprint, world }: Chooser,
): Promise<{ rates: Map<string, PassRate>; rollouts: number }> {
  const { rl, rollout, project } = config
  const settings = rolloutSettings(config)
  const { cache: _, ...toolSettings } = config.tools
  const how = digestOf(settings, rl.pass_rate_rollouts, project.seed, toolSettings, config.search)
  const idOf = ({ id, question, gold, domain }: Task): string =>
    `pass-rate-${digestOf(fingerprint, how, tools, id, question, gold, domain)}`
  const rates = new Map<string, PassRate>()
  const open = tasks.filter((task) => {
    const known = run.get('pass-rate', idOf(task))
    if (known !== undefined) rates.set(task.id, known)
    return known === undefined
  })
  const total = open.length * rl.pass_rate_rollouts
  await passRates(open, policy, tools ? world : withoutTools(world), settings, {
    tries: rl.pass_rate_rollouts,
    seed: project.seed,
    concurrency: rollout.concurrency,
    signal,
    spotlight,
    onTask: (task, tries) => {
      const about = { taskId: task.id, model: policy.checkpoint, fingerprint, how, tools }
      const rate: PassRate = { v: 1, id: idOf(task), ...about, ...tries }
      run.append('pass-rate', rate)
      rates.set(task.id, rate)
    },
    onRollout: (done) =>
      observe({ stage: 'pass rates', done, total, unit: tools ? 'rollouts' : 'rollouts without tools' }),
  })
  return { rates, rollouts: total }
}

function* questionsOfSequences(run: Run): Generator<string> {
  for (const { prompt } of run.scan('sequence')) {
    const question = prompt.findLast(({ role }) => role === 'user')?.content
    if (question !== undefined) yield question
  }
}

/** Measures the initial model on the training tasks and returns which are kept. */
export async function filterQueries(context: StageContext<RlConfig>): Promise<Chosen> {
  const { run, config, onFinding } = context
  const { tasks } = await practiceTasks(run, config, { onNote: onFinding })
  const student = await openStudent(config, initialModel(run, config), (line) => run.log(line))
  const { folder } = student
  try {
    const world = await openWorld(config)
    try {
      const policy = { ...student, checkpoint: folder }
      const fingerprint = fingerprintOfFolder(folder)
      return await chooseTasks(tasks, { ...context, policy, fingerprint, world, measureAll: true })
    } finally {
      await world.close()
    }
  } finally {
    await student.engine.close()
  }
}
