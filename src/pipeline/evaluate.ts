import { join } from 'node:path'
import { modelFolder, openWorld, type World } from '../agent/index.ts'
import { assertGrammars } from '../language/grammar/index.ts'
import { openTokenizer, type Tokenizer } from '../language/tokens/index.ts'
import type { EvalReport } from '../schema/index.ts'
import { makeReport, reportFigures, solveAll } from '../stages/eval/index.ts'
import type { Run } from '../store/index.ts'
import { refuseOverlap } from '../tasks/index.ts'
import { amongTools, type OpenSolver, openModelSolver, openTextSolver } from './model-solver.ts'
import type { StageContext } from './stage.ts'
import { heldOutTasks, trainedOn } from './task-sets.ts'
import { teamSolver } from './team-solver.ts'

/** The name of the report in the run. */
const EVAL_REPORT = 'eval'

/** The team, the model it began with, and what training made of that, on the same held-out tasks. */
export async function evaluateAll(context: StageContext): Promise<Record<string, number>> {
  const { run, config, observe, signal } = context
  const tasks = await heldOutTasks(config)
  refuseOverlap(trainedOn(run), tasks)
  await assertGrammars(
    tasks.map(({ domain }) => domain),
    config.language,
  )
  const tokenizer = await openTokenizer(modelFolder(config.student.model))
  const world = await openWorld(config, run)
  const openers = solversOf(context, world, tokenizer)
  const solvers = openers.map(({ name }) => name)
  const each = tasks.length * config.eval.attempts
  try {
    for (const [number, { name, open }] of openers.entries()) {
      const { solver, close } = await open()
      try {
        await solveAll(config, {
          run,
          tasks,
          signal,
          onFinding: context.onFinding,
          solvers: [{ ...amongTools(solver, config), name }],
          observe: ({ done }) =>
            observe({
              stage: 'eval',
              done: number * each + done,
              total: solvers.length * each,
              unit: `attempts, ${name} at work`,
            }),
        })
      } finally {
        await close()
      }
    }
  } finally {
    await world.close()
  }
  const { report } = makeReport(config, run, {
    solvers,
    id: EVAL_REPORT,
    tasks: new Set(tasks.map(({ id }) => id)),
    attempts: config.eval.attempts,
  })
  return reportFigures(report)
}

/** In the order in which they are shown; the others are held against the first. Opened one at a time. */
function solversOf(
  { run, config, spotlight }: StageContext,
  world: World,
  tokenizer: Tokenizer,
): { name: string; open: () => Promise<OpenSolver> }[] {
  const model = (name: string, folder: string) => ({
    name,
    open: () => openModelSolver(name, folder, config, world, spotlight),
  })
  return [
    {
      name: config.teach.mind === 'model' ? 'team' : 'scripted team',
      open: async () => ({
        solver: await teamSolver(config, world, tokenizer, spotlight),
        close: async () => {},
      }),
    },
    // What the model could do before training, were it not asked to work as a chain of agents.
    {
      name: 'base, plain text',
      open: () => openTextSolver('base, plain text', config.student.model, config, world),
    },
    model('base', config.student.model),
    model('sft', join(run.files.checkpoints, 'sft')),
    model('rl', join(run.files.checkpoints, 'rl')),
  ]
}

/** The report that the stage made; undefined where it has not yet. */
export function evalReportOf(run: Pick<Run, 'get'>): EvalReport | undefined {
  return run.get('eval', EVAL_REPORT)
}
