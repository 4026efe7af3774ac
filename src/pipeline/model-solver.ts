import type { ProjectConfig } from '../config/index.ts'
import { fingerprintOfFolder } from '../engine/index.ts'
import { digestOf, modelSolver, type Solver } from '../eval/index.ts'
import type { Spotlight } from '../observe/index.ts'
import { openStudent, rolloutSettings, type World } from '../rollout/index.ts'

/** Opened one after the other: two large models need not fit beside each other. */
export interface OpenSolver {
  solver: Solver
  close: () => Promise<void>
}

/** The model of a folder as a solver, on an engine of its own. */
export async function openModelSolver(
  name: string,
  folder: string,
  config: ProjectConfig,
  world: World,
  spotlight?: Spotlight,
): Promise<OpenSolver> {
  const student = await openStudent(config, folder)
  const solver = modelSolver({
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
export function amongTools(solver: Solver, config: ProjectConfig): Solver {
  const { cache: _, ...tools } = config.tools
  return { ...solver, how: digestOf(solver.how, tools, config.search) }
}

export function evalTemperature({ eval: { temperature, attempts }, rollout }: ProjectConfig): number {
  return temperature ?? (attempts > 1 ? rollout.temperature : 0)
}
