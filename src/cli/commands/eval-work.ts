import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { modelFolder, openWorld } from '../../agent/index.ts'
import { digestOf } from '../../base/digests/index.ts'
import { ConfigError, UsageError } from '../../base/errors/index.ts'
import { assertGrammars } from '../../language/grammar/index.ts'
import { runStage } from '../../pipeline/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { EvalReport, Task } from '../../schema/index.ts'
import { readEnvironment } from '../../settings/index.ts'
import {
  makeReport,
  parseShard,
  pickWithJudge,
  type ReportFiles,
  reportFigures,
  solveAll,
  takeAttempts,
} from '../../stages/eval/index.ts'
import { checkPathName, openRun, type Run } from '../../store/index.ts'
import { refuseOverlap, trainedOn } from '../../tasks/index.ts'
import { modelFromSettings } from '../../world/models/index.ts'
import { findRun } from '../find-run.ts'
import { interruptible } from '../interrupt.ts'
import { inRun, newRun } from '../new-run.ts'
import { showProgress } from '../progress.ts'
import type { EvalOptions } from './eval-options.ts'
import { countingTokenizer, openSolver, solverName } from './eval-solvers.ts'
import type { SolverRequest } from './solver-request.ts'

export interface EvalWork {
  command: 'eval' | 'compare'
  tasks: readonly Task[]
  requests: readonly SolverRequest[]
  options: EvalOptions
  /** A run with other solvers' attempts at the same tasks. */
  against?: string
}

export interface EvalResult {
  run: string
  dir: string
  report: EvalReport
  files: ReportFiles
  /** From the first attempt of this process to the report. */
  seconds: number
}

/** Makes the attempts that the run does not have yet, then the report. */
export async function evaluate(config: ProjectConfig, work: EvalWork): Promise<EvalResult> {
  const { command, tasks, requests, options } = work
  const shard = options.shard === undefined ? undefined : parseShard(options.shard)
  const names = requests.map((request) => solverName(request, config))
  const twin = names.find((name, at) => names.indexOf(name) !== at)
  if (twin !== undefined)
    throw new UsageError(`two solvers are called ${twin}`, { fix: `Rename one: --model other=FOLDER.` })
  const judge = config.eval.picker === 'judge' ? judgeOf(config) : undefined
  for (const request of requests) if ('folder' in request) modelFolder(request.folder)
  await assertGrammars(
    tasks.map(({ domain }) => domain),
    config.language,
  )
  if (options.split !== 'train') refuseTrainedOn(requests, tasks)
  const { run: opened, isNew } = runFor(config, work)
  using run = opened
  const observe = showProgress()
  const began = performance.now()
  try {
    return await interruptible((signal) =>
      inRun(run, isNew, async () => {
        const attempt = async () => {
          const tokenizer = await countingTokenizer(requests, config)
          const world = await openWorld(config, run)
          try {
            for (const request of requests) {
              const { solver, close } = await openSolver(request, config, world, tokenizer)
              const solvers = [solver]
              try {
                await solveAll(config, {
                  run,
                  tasks,
                  solvers,
                  signal,
                  observe,
                  onFinding: (text) => process.stderr.write(`${text}\n`),
                  ...(shard === undefined ? {} : { shard }),
                })
              } finally {
                await close()
              }
            }
          } finally {
            await world.close()
          }
          const others = work.against === undefined ? [] : takeOthers(run, work.against, config, tasks)
          const solvers = [...others, ...names]
          if (judge !== undefined) {
            const { concurrency } = config.eval
            await pickWithJudge(judge, { run, tasks, solvers, signal, concurrency })
          }
          const made = makeReport(config, run, {
            solvers,
            id: command,
            tasks: new Set(tasks.map(({ id }) => id)),
            attempts: config.eval.attempts,
          })
          return { figures: reportFigures(made.report), made }
        }
        const { made } = await runStage({ name: command, run: attempt }, { run, config, signal, observe })
        const seconds = (performance.now() - began) / 1000
        return { run: run.id, dir: run.dir, ...made, seconds }
      }),
    )
  } finally {
    observe.done()
  }
}

function judgeOf(config: ProjectConfig) {
  const judge = modelFromSettings('judge', config.judge, readEnvironment())
  if (judge !== undefined) return judge
  throw new ConfigError('there is no judge model to pick answers', {
    fix: 'Set judge.base_url and judge.model, or use --picker majority.',
  })
}

/** The same command finds the same run, so that an interrupted evaluation resumes. */
function runFor(
  config: ProjectConfig,
  { command, tasks, requests, options }: EvalWork,
): { run: Run; isNew: boolean } {
  const { runs } = config.project
  const { attempts, temperature } = config.eval
  const { mcp, own: ownTools } = config.tools
  const parts = [
    requests,
    tasks.map(({ id }) => id),
    config.project.seed,
    attempts,
    temperature,
    config.teach,
    config.rollout,
    // Omitted if there are no custom tools, so that runs of older versions are still found.
    ...(Object.keys(mcp).length + ownTools.files.length > 0 ? [mcp, ownTools] : []),
  ]
  const own = `${command}-${digestOf(...parts, options.shard).slice(0, 8)}`
  const id = options.run ?? (options.fresh === true ? undefined : own)
  const name = `coa ${command}`
  if (id !== undefined && existsSync(join(runs, checkPathName(id, 'a run'), 'manifest.json')))
    return { run: openRun(join(runs, id), { write: true, command: name }), isNew: false }
  return { run: newRun(config, name, id), isNew: true }
}

/** A run's model must not be evaluated on the tasks that it was trained on, unless --split train says so. */
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
function takeOthers(run: Run, name: string, config: ProjectConfig, tasks: readonly Task[]): string[] {
  using other = openRun(findRun(config.project.runs, name, 'attempts'))
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
