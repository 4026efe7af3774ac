import { distill } from '../stages/distill/index.ts'
import { evaluateAgainst } from '../stages/eval/index.ts'
import { filter } from '../stages/filter/index.ts'
import { rl } from '../stages/rl/index.ts'
import { sft } from '../stages/sft/index.ts'
import type { Stage } from '../stages/stage.ts'
import { prepareTasks } from '../stages/tasks/stage.ts'
import { teach } from '../stages/teach/index.ts'
import type { ProjectConfig } from './settings.ts'
import { teamSolver } from './team-solver.ts'

export const evaluate = evaluateAgainst<ProjectConfig>(teamSolver)

/** The whole pipeline, in order. */
export const stages: readonly Stage<ProjectConfig>[] = [
  prepareTasks,
  teach,
  distill,
  filter,
  sft,
  rl,
  evaluate,
]
