import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { modelFolder, openWorld, withToolChanges } from '../agent/index.ts'
import { UsageError } from '../base/errors/index.ts'
import { assertGrammars } from '../language/grammar/index.ts'
import type { EvalReport, Task } from '../schema/index.ts'
import {
  makeReport,
  type parseShard,
  pickWithJudge,
  type ReportFiles,
  reportMetrics,
  solveAll,
  takeAttempts,
} from '../stages/eval/index.ts'
import type { StageContext } from '../stages/stage.ts'
import { openRun, type Run } from '../store/index.ts'
import { refuseOverlap, trainedOn } from '../tasks/index.ts'
import { judgeModel } from './answer-picker.ts'
import { countingTokenizer, openSolver, type SolverRequest, solverName } from './eval-solvers.ts'
import { runStage } from './run-stage.ts'
import type { ProjectConfig } from './settings.ts'

export interface Evaluation {
  /** The name of the stage and of its report. */
  name: 'eval' | 'compare'
  tasks: readonly Task[]
  requests: readonly SolverRequest[]
  shard?: ReturnType<typeof parseShard>
  /** The folder of a run with other solvers' attempts at the same tasks. */
  against?: string
}

/** Throws if the evaluation could not be completed or would be misleading, before any work is done. */
export async function assertEvaluable(
  config: ProjectConfig,
  { tasks, requests }: Evaluation,
  { onTrainingTasks }: { onTrainingTasks: boolean },
): Promise<void> {
  const names = requests.map((request) => solverName(request, config))
  const twin = names.find((name, at) => names.indexOf(name) !== at)
  if (twin !== undefined)
    throw new UsageError(`two solvers are called ${twin}`, { fix: `Rename one: --model other=FOLDER.` })
  if (config.eval.picker === 'judge') pickingJudge(config)
  for (const request of requests) if ('folder' in request) modelFolder(request.folder)
  await assertGrammars(
    tasks.map(({ domain }) => domain),
    config.language,
  )
  if (!onTrainingTasks) refuseTrainedOn(requests, tasks)
}

/** Makes the attempts that the run does not have yet, then the report. */
export async function evaluateSolvers(
  evaluation: Evaluation,
  context: StageContext<ProjectConfig>,
): Promise<{ report: EvalReport; files: ReportFiles }> {
  const attempt = async () => {
    const made = await attemptAll(evaluation, context)
    return { figures: reportMetrics(made.report), made }
  }
  const { made } = await runStage({ name: evaluation.name, run: attempt }, context)
  return made
}

async function attemptAll(evaluation: Evaluation, context: StageContext<ProjectConfig>) {
  const { name, tasks, requests, shard, against } = evaluation
  const { run, config, signal, observe, onFinding } = context
  const tokenizer = await countingTokenizer(requests, config)
  const world = withToolChanges(await openWorld(config, run), config.eval)
  try {
    // One after the other, because two large models may not fit in memory together.
    for (const request of requests) {
      observe({ stage: `eval ${solverName(request, config)}`, done: 0, unit: 'opening the model' })
      const { solver, close } = await openSolver(request, config, world, tokenizer, observe)
      try {
        await solveAll(config, {
          run,
          tasks,
          solvers: [solver],
          signal,
          observe,
          ...(onFinding === undefined ? {} : { onFinding }),
          ...(shard === undefined ? {} : { shard }),
        })
      } finally {
        await close()
      }
    }
  } finally {
    await world.close()
  }
  const others = against === undefined ? [] : copyAttempts(run, against, tasks)
  const solvers = [...others, ...requests.map((request) => solverName(request, config))]
  if (config.eval.picker === 'judge') {
    const { concurrency } = config.eval
    await pickWithJudge(pickingJudge(config), { run, tasks, solvers, signal, concurrency })
  }
  return makeReport(config, run, {
    solvers,
    id: name,
    tasks: new Set(tasks.map(({ id }) => id)),
    attempts: config.eval.attempts,
  })
}

function pickingJudge(config: ProjectConfig) {
  return judgeModel(config, 'Set judge.base_url and judge.model, or use --picker majority.')
}

/** A run's model must not be evaluated on the tasks that it was trained on. */
function refuseTrainedOn(requests: readonly SolverRequest[], tasks: readonly Task[]): void {
  for (const request of requests) {
    if (!('folder' in request) || request.folder === undefined) continue
    // The folder is RUN/checkpoints/NAME.
    const dir = dirname(dirname(resolve(modelFolder(request.folder))))
    if (!existsSync(join(dir, 'manifest.json'))) continue
    using run = openRun(dir)
    refuseOverlap(
      trainedOn(run),
      tasks,
      'Choose other tasks, such as --split test, or evaluate on training tasks on purpose with --split train.',
    )
  }
}

/** Copies another run's attempts at the same tasks, with that run's id added to the solver names. */
function copyAttempts(run: Run, from: string, tasks: readonly Task[]): string[] {
  using other = openRun(from)
  const positions = new Map(tasks.map(({ id }, at) => [id, at]))
  const attempts = [...other.scan('attempt')].flatMap((attempt) => {
    const position = positions.get(attempt.taskId)
    return position === undefined ? [] : [{ ...attempt, position }]
  })
  if (attempts.length === 0) {
    throw new UsageError(`run ${other.id} has no attempts at these tasks`, {
      fix: 'Evaluate the same tasks in both runs: the same suites, count, level, split and seed.',
    })
  }
  const renamed = (solver: string): string => `${solver}@${other.id}`
  takeAttempts(run, attempts, renamed)
  return [...new Set(attempts.map(({ solver }) => renamed(solver)))]
}
