import { join } from 'node:path'
import { modelFolder, openWorld, type World, withToolChanges } from '../../agent/index.ts'
import type { Spotlight } from '../../base/progress/index.ts'
import { whole } from '../../base/text/index.ts'
import { assertGrammars } from '../../language/grammar/index.ts'
import { openTokenizer, type Tokenizer } from '../../language/tokens/index.ts'
import { heldOutTasks, refuseOverlap, trainedOn } from '../../tasks/index.ts'
import type { TasksConfig } from '../../tasks/settings.ts'
import type { Stage, StageContext } from '../stage.ts'
import { makeReport, reportMetrics } from './make-report.ts'
import {
  type OpenSolver,
  openModelSolver,
  openTalkSolver,
  openTextSolver,
  type SolverConfig,
  withToolSettings,
} from './open-solver.ts'
import { EvalSection, type SolverKind } from './settings.ts'
import { solveAll } from './solve-all.ts'

interface EvalConfig extends TasksConfig, SolverConfig {}

/** Opens the team as a solver. Stages may not import each other, so it is passed in. */
type OpenTeam<Config> = (
  config: Config,
  world: World,
  tokenizer: Tokenizer,
  spotlight?: Spotlight,
) => Promise<OpenSolver>

export function evaluateAgainst<Config extends EvalConfig>(openTeam: OpenTeam<Config>): Stage<Config> {
  return {
    name: 'eval',
    purpose: 'the team and the models on the same held-out tasks',
    settings: { eval: EvalSection },
    reads: ['task', 'checkpoints/sft', 'checkpoints/rl'],
    writes: ['attempt', 'eval'],
    run: async (context) => ({ figures: await evaluateAll(context, openTeam) }),
    describe: ({ solvers = 0, tasks = 0 }) => `${whole(solvers)} solvers on ${whole(tasks)} held-out tasks`,
  }
}

/** Evaluates the team, the base model and the trained checkpoints on the same held-out tasks. */
async function evaluateAll<Config extends EvalConfig>(
  context: StageContext<Config>,
  openTeam: OpenTeam<Config>,
): Promise<Record<string, number>> {
  const { run, config, observe, signal } = context
  const tasks = await heldOutTasks(config)
  refuseOverlap(trainedOn(run), tasks)
  await assertGrammars(
    tasks.map(({ domain }) => domain),
    config.language,
  )
  const tokenizer = await openTokenizer(modelFolder(config.student.model))
  const world = withToolChanges(await openWorld(config, run), config.eval)
  const openers = solversOf(context, openTeam, world, tokenizer)
  const solvers: string[] = []
  const each = tasks.length * config.eval.attempts
  try {
    for (const [number, open] of openers.entries()) {
      const [done, total] = [number * each, openers.length * each]
      observe({ stage: 'eval', done, total, unit: 'attempts, opening the next solver' })
      const { solver, close } = await open()
      solvers.push(solver.name)
      try {
        await solveAll(config, {
          run,
          tasks,
          signal,
          onFinding: context.onFinding,
          solvers: [withToolSettings(solver, config)],
          observe: ({ done: more }) =>
            observe({ stage: 'eval', done: done + more, total, unit: `attempts, running ${solver.name}` }),
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
    tasks: new Set(tasks.map(({ id }) => id)),
    attempts: config.eval.attempts,
  })
  return reportMetrics(report)
}

/** Those of eval.solvers; opened one at a time. */
function solversOf<Config extends EvalConfig>(
  { run, config, spotlight, observe }: StageContext<Config>,
  openTeam: OpenTeam<Config>,
  world: World,
  tokenizer: Tokenizer,
): (() => Promise<OpenSolver>)[] {
  const { model } = config.student
  const watch = { spotlight, observe }
  const checkpoint = (name: string): string => join(run.files.checkpoints, name)
  const openers: Record<SolverKind, () => Promise<OpenSolver>> = {
    team: async () => {
      const { solver, close } = await openTeam(config, world, tokenizer, spotlight)
      return { solver: { ...solver, name: solver.kind }, close }
    },
    // What the base model can do without working as a chain of agents.
    plain: () => openTalkSolver('plain', 'base, asked once', model, config, world, watch),
    react: () => openTalkSolver('react', 'base, ReAct', model, config, world, watch),
    text: () => openTextSolver('base, plain text', model, config, world, watch),
    base: () => openModelSolver('base', model, config, world, watch),
    sft: () => openModelSolver('sft', checkpoint('sft'), config, world, watch),
    rl: () => openModelSolver('rl', checkpoint('rl'), config, world, watch),
  }
  return config.eval.solvers.map((kind) => openers[kind])
}
