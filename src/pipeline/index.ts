export type { Chosen } from './choose-tasks.ts'
export { evalReportOf } from './evaluate.ts'
export { filterQueries } from './filter-queries.ts'
export {
  amongTools,
  evalTemperature,
  type OpenSolver,
  openModelSolver,
  openTextSolver,
} from './model-solver.ts'
export { runStage, stageSettingsFile } from './run-stage.ts'
export { type RunStagesContext, runStages, type StageOutcome } from './run-stages.ts'
export type { Stage, StageContext, StageSummary } from './stage.ts'
export { distill, evaluate, filter, prepareTasks, rl, sft, stages, teach } from './stages.ts'
export { trainedOn } from './task-sets.ts'
export { trainingTasks } from './tasks.ts'
export { teamSolver } from './team-solver.ts'
