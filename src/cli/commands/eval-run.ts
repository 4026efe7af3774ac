import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../../base/digests/index.ts'
import {
  assertEvaluable,
  type Evaluation,
  evaluateSolvers,
  type SolverRequest,
} from '../../pipeline/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import type { EvalReport, Task } from '../../schema/index.ts'
import { parseShard, type ReportFiles } from '../../stages/eval/index.ts'
import { checkPathName, openRun, type Run } from '../../store/index.ts'
import { findRun } from '../find-run.ts'
import { interruptible } from '../interrupt.ts'
import { inRun, newRun } from '../new-run.ts'
import { printNote, showProgress } from '../progress.ts'
import type { EvalOptions } from './eval-options.ts'

export interface EvalCommand {
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

/** Evaluates solvers in the run that belongs to the command. */
export async function runEvaluation(config: ProjectConfig, evalCommand: EvalCommand): Promise<EvalResult> {
  const { command, tasks, requests, options, against } = evalCommand
  const evaluation: Evaluation = {
    name: command,
    tasks,
    requests,
    ...(options.shard === undefined ? {} : { shard: parseShard(options.shard) }),
    ...(against === undefined ? {} : { against: findRun(config.project.runs, against, 'attempts') }),
  }
  await assertEvaluable(config, evaluation, { onTrainingTasks: options.split === 'train' })
  const { run: opened, isNew } = runFor(config, evalCommand)
  using run = opened
  const observe = showProgress()
  const started = performance.now()
  const made = await interruptible((signal) =>
    inRun(run, isNew, () =>
      evaluateSolvers(evaluation, { run, config, signal, observe, onFinding: printNote }),
    ),
  ).finally(observe.done)
  return { run: run.id, dir: run.dir, ...made, seconds: (performance.now() - started) / 1000 }
}

/** The same command finds the same run, so that an interrupted evaluation resumes. */
function runFor(
  config: ProjectConfig,
  { command, tasks, requests, options }: EvalCommand,
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
