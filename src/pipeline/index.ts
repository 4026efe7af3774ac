export {
  importRuns,
  type RecordSummary,
  type RunStatus,
  record,
} from '../stages/capture/index.ts'
export { check } from '../stages/check/index.ts'
export { distill } from '../stages/distill/index.ts'
export { filter } from '../stages/filter/index.ts'
export { rl } from '../stages/rl/index.ts'
export { sft } from '../stages/sft/index.ts'
export type { Stage, StageContext, StageSummary } from '../stages/stage.ts'
export { prepareTasks } from '../stages/tasks/stage.ts'
export { teach } from '../stages/teach/index.ts'
export { type AblateContext, ablate, type VariantResult } from './ablate.ts'
export { ablations } from './ablations.ts'
export type { SolverRequest } from './eval-solvers.ts'
export { assertEvaluable, type Evaluation, evaluateSolvers } from './evaluate-solvers.ts'
export { runStage, stageSettingsFile } from './run-stage.ts'
export { type RunStagesContext, runStages, type StageOutcome } from './run-stages.ts'
export { evaluate, stages } from './stages.ts'
