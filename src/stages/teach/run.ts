import { modelFolder, openWorld } from '../../agent/index.ts'
import { inParallel } from '../../base/concurrency/index.ts'
import { allFailed, ConfigError, type Failure, reasonText, UsageError } from '../../base/errors/index.ts'
import { assertGrammars } from '../../language/grammar/index.ts'
import { encodePrompt, tokenizerNamed } from '../../language/tokens/index.ts'
import type { Task, Trajectory } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import type { StageContext } from '../stage.ts'
import { type TeamConfig, teamOf } from './configured-team.ts'
import { hintOf, solutionOf } from './hint.ts'
import { type Aids, type Surroundings, solveAsTeam, type Team } from './solve-as-team.ts'
import { type StudentRoundConfig, studentRound } from './student-rounds.ts'

export interface TeachConfig extends TeamConfig, StudentRoundConfig {}

export interface TeachSummary {
  tasks: number
  trajectories: number
  correct: number
  wrong: number
  undecided: number
  unanswered: number
  failed: number
  'tool calls': number
  'prompt tokens': number
  'completion tokens': number
  spend: number
  [metric: string]: number
}

/**
 * Has the team solve every task of the run and stores each attempt as a trajectory. If interrupted, it resumes with the
 * tasks that have no trajectory or a failed one. A failed attempt is stored as well and does not stop the others; only
 * if all of them fail does the stage fail. If the mind is the student, there is no team: see `studentRound`.
 */
export async function run(
  config: TeachConfig,
  context: Omit<StageContext<unknown>, 'config'>,
): Promise<TeachSummary> {
  const { run: folder, signal, observe, spotlight, onFinding } = context
  const team = await assertTeachable(config, tasksOf(folder))
  if (team === undefined) {
    const tasks = tasksOf(folder)
    const { rollouts, ...counts } = await studentRound(config, tasks, context)
    return { ...emptySummary(tasks.length), ...counts, trajectories: rollouts }
  }
  const countTokens = await tokenCounter(config.language.tokenizer)
  const world = await openWorld(config, folder)
  const { calling, check } = world
  const jobs = pending(folder, config, team)
  const total = tasksOf(folder).length * config.teach.runs
  let done = total - jobs.reduce((sum, { seeds }) => sum + seeds.length, 0)
  let spend = 0
  const attempt = async (task: Task, seed: number): Promise<Trajectory> => {
    const grammar = await world.grammarOf(task)
    const tools = await world.toolsOf(task)
    const aids = aidsFor(task, seed, config)
    const around = { grammar, tools, countTokens, calling, check, aids, signal, spotlight }
    const trajectory = await solveAsTeam(task, team, seed, around)
    if (config.teach.until_correct) trajectory.meta['attempt'] = seed - config.project.seed + 1
    folder.append('trajectory', trajectory)
    spend += Number(trajectory.meta['spend'] ?? 0)
    return trajectory
  }
  observe({ stage: 'teach', done, total, unit: 'runs' })
  const began = performance.now()
  const { max_minutes: most } = config.teach
  const isOutOfTime = (): boolean => most > 0 && performance.now() - began >= most * 60_000
  let unmade = 0
  try {
    await inParallel(jobs, config.teach.concurrency, async ({ task, seeds }) => {
      for (const [at, seed] of seeds.entries()) {
        if (isOutOfTime()) {
          unmade += seeds.length - at
          break
        }
        const { verdict } = await attempt(task, seed)
        const isEnough = config.teach.until_correct && verdict?.outcome === 'correct'
        done += isEnough ? seeds.length - at : 1
        const cost = spend > 0 ? `, ${spend.toFixed(2)} spent` : ''
        observe({ stage: 'teach', done, total, unit: `runs${cost}` })
        if (isEnough) break
      }
    })
  } finally {
    await team.close?.()
    await world.close()
  }
  if (unmade > 0) onFinding?.(`${unmade} runs were not made, because teach.max_minutes is ${most}`)
  const summary = summarize(folder, team)
  const failures = failuresOf(folder, team)
  if (failures.length > 0 && failures.length === summary.trajectories)
    throw allFailed(
      'runs of the team',
      failures,
      `Fix the cause, then resume with \`coa teach ${folder.id}\`.`,
    )
  if (failures.length > 0)
    onFinding?.(
      `${failures.length} of ${summary.trajectories} runs of the team failed: ${reasonText(failures.map(({ message }) => message))}`,
    )
  return summary
}

/** With `until_correct`, the first attempt at a task is made without a hint; a task that it solves needs none. */
function aidsFor(task: Task, seed: number, { teach, project }: TeachConfig): Aids {
  const isFirst = teach.until_correct && seed === project.seed
  return { verdicts: teach.verdicts, hint: teach.hints && !isFirst ? hintOf(task) : undefined }
}

/** Throws if hints or verdicts are asked for but would have no effect. */
function assertAids({ teach }: TeachConfig, tasks: readonly Task[]): void {
  const { hints, verdicts, mind, until_correct: untilCorrect, runs } = teach
  const asked = hints ? 'teach.hints is true' : `teach.verdicts is ${verdicts}`
  if ((hints || verdicts > 0) && mind !== 'model')
    throw new ConfigError(
      `${asked}, but teach.mind is "${mind}": only teams of models take hints and verdicts`,
      {
        fix: 'Set teach.mind = "model", or teach.hints = false and teach.verdicts = 0.',
      },
    )
  if (!hints) return
  if (untilCorrect && runs === 1)
    throw new ConfigError(`${asked}, but with teach.until_correct the only attempt at a task gets no hint`, {
      fix: 'Set teach.runs to 2 or more, or teach.until_correct = false.',
    })
  if (tasks.length > 0 && tasks.every((task) => solutionOf(task) === undefined))
    throw new UsageError(`${asked}, but none of the tasks has an annotated solution`, {
      fix: 'Set it to false, or take tasks that have one: gsm8k, mbpp, or a file with a "solution" column.',
    })
}

/**
 * Throws if the team cannot solve any of the tasks: no grammar, no model, or no script for them. Undefined if the student is to
 * solve them alone.
 */
export async function assertTeachable(
  config: TeachConfig,
  tasks: readonly Task[],
): Promise<Team | undefined> {
  await assertGrammars(
    tasks.map(({ domain }) => domain),
    config.language,
  )
  assertAids(config, tasks)
  if (config.teach.mind === 'student') {
    modelFolder(config.student.model)
    return undefined
  }
  const team = await teamOf(config)
  let reason: unknown
  for (const task of tasks) {
    try {
      team.minds(task, config.project.seed)
      return team
    } catch (error) {
      reason ??= error
    }
  }
  if (reason !== undefined) throw reason
  return team
}

function failuresOf(folder: Run, team: Team): Failure[] {
  const tasks = new Set(tasksOf(folder).map(({ id }) => id))
  return [...folder.scan('trajectory')]
    .filter((trajectory) => trajectory.team === team.name && tasks.has(trajectory.taskId))
    .flatMap((trajectory) => failureOf(trajectory) ?? [])
}

function failureOf({ events }: Trajectory): Failure | undefined {
  const failed = events.findLast((event) => event.type === 'failed')
  return failed === undefined ? undefined : { boundary: failed.boundary, message: failed.message }
}

/** The tasks the team solves; tasks for RL and evaluation have `meta.for`. */
function tasksOf(folder: Run): Task[] {
  return [...folder.scan('task')].filter(({ meta }) => meta['for'] === undefined)
}

/**
 * Attempts that are missing or failed; several attempts at one task differ in their seed. They are independent jobs, unless the
 * first correct one is enough: then those of a task are made one after another.
 */
function pending(folder: Run, config: TeachConfig, team: Team): { task: Task; seeds: number[] }[] {
  const { runs, until_correct: untilCorrect } = config.teach
  const jobs: { task: Task; seeds: number[] }[] = []
  for (const task of tasksOf(folder)) {
    const made = Array.from({ length: runs }, (_, number) => {
      const seed = config.project.seed + number
      return { seed, before: folder.get('trajectory', `${task.id}@${team.name}-${seed}`) }
    })
    if (untilCorrect && made.some(({ before }) => before?.verdict?.outcome === 'correct')) continue
    const seeds = made
      .filter(({ before }) => before === undefined || failureOf(before) !== undefined)
      .map(({ seed }) => seed)
    if (untilCorrect && seeds.length > 0) jobs.push({ task, seeds })
    else for (const seed of seeds) jobs.push({ task, seeds: [seed] })
  }
  return jobs
}

/** Counts with the student's tokenizer, whatever the team's model, so that their token counts are comparable. */
async function tokenCounter(name: string): Promise<Surroundings['countTokens']> {
  const tokenizer = await tokenizerNamed(name)
  return (messages, written) => ({
    prompt: encodePrompt(tokenizer, messages).length,
    completion: tokenizer.encodeIds(written, { specials: 'text' }).length,
  })
}

function summarize(folder: Run, team: Team): TeachSummary {
  const tasks = new Set(tasksOf(folder).map(({ id }) => id))
  const summary = emptySummary(tasks.size)
  for (const trajectory of folder.scan('trajectory')) {
    if (trajectory.team === team.name && tasks.has(trajectory.taskId)) add(summary, trajectory)
  }
  return summary
}

function emptySummary(tasks: number): TeachSummary {
  return {
    tasks,
    trajectories: 0,
    correct: 0,
    wrong: 0,
    undecided: 0,
    unanswered: 0,
    failed: 0,
    'tool calls': 0,
    'prompt tokens': 0,
    'completion tokens': 0,
    spend: 0,
  }
}

function add(summary: TeachSummary, trajectory: Trajectory): void {
  const { answer, verdict, meta } = trajectory
  const metric = (name: string): number => Number(meta[name] ?? 0)
  summary.trajectories++
  if (failureOf(trajectory) !== undefined) summary.failed++
  else if (answer === undefined) summary.unanswered++
  else if (verdict !== undefined) summary[verdict.outcome]++
  summary['tool calls'] += metric('steps')
  summary['prompt tokens'] += metric('promptTokens')
  summary['completion tokens'] += metric('completionTokens')
  summary.spend += metric('spend')
}
