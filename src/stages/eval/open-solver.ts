import { openStudent, rolloutSettings, type World } from '../../agent/index.ts'
import type { RolloutSection, StudentConfig } from '../../agent/settings.ts'
import { digestOf } from '../../base/digests/index.ts'
import type { Spotlight } from '../../base/progress/index.ts'
import { fingerprintOfFolder } from '../../engine/index.ts'
import type { WorldConfig } from '../../world/settings.ts'
import type { Solver } from './contract.ts'
import { type ModelSolverOptions, modelSolver } from './model-solver.ts'
import type { EvalSection } from './settings.ts'
import { textSolver } from './text-solver.ts'

/** What solvers are opened with. */
export interface SolverConfig extends WorldConfig, StudentConfig {
  rollout: RolloutSection
  eval: EvalSection
}

/** Opened one after the other: two large models need not fit beside each other. */
export interface OpenSolver {
  solver: Solver
  close: () => Promise<void>
}

/** The model of a folder as a solver, on an engine of its own. */
export function openModelSolver(
  name: string,
  folder: string,
  config: SolverConfig,
  world: World,
  spotlight?: Spotlight,
): Promise<OpenSolver> {
  return openWith(modelSolver, name, folder, config, world, spotlight)
}

/** The same, but the model continues the question as plain text, and its programs are run. */
export function openTextSolver(
  name: string,
  folder: string,
  config: SolverConfig,
  world: World,
): Promise<OpenSolver> {
  return openWith(textSolver, name, folder, config, world)
}

async function openWith(
  solverOf: (options: ModelSolverOptions) => Solver,
  name: string,
  folder: string,
  config: SolverConfig,
  world: World,
  spotlight?: Spotlight,
): Promise<OpenSolver> {
  const student = await openStudent(config, folder)
  const solver = solverOf({
    name,
    fingerprint: fingerprintOfFolder(student.folder),
    policy: { ...student, checkpoint: student.folder },
    world,
    settings: { ...rolloutSettings(config), temperature: evalTemperature(config) },
    ...(spotlight === undefined ? {} : { spotlight }),
  })
  return { solver, close: () => student.engine.close() }
}

/** What its tools are set up with decides a solver's work too. */
export function amongTools(solver: Solver, config: Pick<WorldConfig, 'tools' | 'search'>): Solver {
  const { cache: _, ...tools } = config.tools
  return { ...solver, how: digestOf(solver.how, tools, config.search) }
}

export function evalTemperature({
  eval: { temperature, attempts },
  rollout,
}: Pick<SolverConfig, 'eval' | 'rollout'>): number {
  return temperature ?? (attempts > 1 ? rollout.temperature : 0)
}
