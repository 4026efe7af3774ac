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
  reportMetrics,
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
  /** A run with attempts of others at the same tasks. */
  against?: string
}

export interface EvalResult {
  run: string
  dir: string
  report: EvalReport
  files: ReportFiles
  /** Of this process, from the first attempt to the report. */
  seconds: number
}

/** Makes the attempts that are missing in the run that belongs to the command, and then the report. */
export async function evaluate(config: ProjectConfig, work: EvalWork): Promise<EvalResult> {
  const { command, tasks, requests, options } = work
  const shard = options.shard === undefined ? undefined : parseShard(options.shard)
  const names = requests.map((request) => solverName(request, config))
  const twin = names.find((name, at) => names.indexOf(name) !== at)
  if (twin !== undefined)
    throw new UsageError(`two solvers are called ${twin}`, { fix: `Name them, as in --model other=FOLDER.` })
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
          return { figures: reportMetrics(made.report), made }
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
  throw new ConfigError('there is no judge to pick with', {
    fix: 'Set judge.base_url and judge.model, or --picker majority.',
  })
}

/** The same command finds the same run, so that one that was stopped goes on. */
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
    // Without tools of your own the same run is found as before there were any.
    ...(Object.keys(mcp).length + ownTools.files.length > 0 ? [mcp, ownTools] : []),
  ]
  const own = `${command}-${digestOf(...parts, options.shard).slice(0, 8)}`
  const id = options.run ?? (options.fresh === true ? undefined : own)
  const name = `coa ${command}`
  if (id !== undefined && existsSync(join(runs, checkPathName(id, 'a run'), 'manifest.json')))
    return { run: openRun(join(runs, id), { write: true, command: name }), isNew: false }
  return { run: newRun(config, name, id), isNew: true }
}

/** A model of a run is not measured on what that run trained it on, unless the training tasks were asked for. */
function refuseTrainedOn(requests: readonly SolverRequest[], tasks: readonly Task[]): void {
  for (const request of requests) {
    if (!('folder' in request) || request.folder === undefined) continue
    // …/checkpoints/NAME in the folder of a run.
    const dir = dirname(dirname(resolve(modelFolder(request.folder))))
    if (!existsSync(join(dir, 'manifest.json'))) continue
    using run = openRun(dir)
    refuseOverlap(
      trainedOn(run),
      tasks,
      `Take other tasks, such as --split test, or say that you want to measure on training tasks: --split train.`,
    )
  }
}

/** Takes over what others did at the same tasks, under names that tell where they are from. */
function takeOthers(run: Run, name: string, config: ProjectConfig, tasks: readonly Task[]): string[] {
  using other = openRun(findRun(config.project.runs, name, 'attempts'))
  const positions = new Map(tasks.map(({ id }, at) => [id, at]))
  const attempts = [...other.scan('attempt')].flatMap((attempt) => {
    const position = positions.get(attempt.taskId)
    return position === undefined ? [] : [{ ...attempt, position }]
  })
  if (attempts.length === 0) {
    throw new UsageError(`run ${other.id} has no attempts at these tasks`, {
      fix: 'Evaluate the same tasks there: the same suites, number, level, split and seed.',
    })
  }
  const renamed = (solver: string): string => `${solver}@${other.id}`
  takeAttempts(run, attempts, renamed)
  return [...new Set(attempts.map(({ solver }) => renamed(solver)))]
}
