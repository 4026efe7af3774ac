export { evalReportOf } from './evaluate.ts'
export {
  amongTools,
  evalTemperature,
  type OpenSolver,
  openModelSolver,
  openTextSolver,
} from './model-solver.ts'
export { trainRl } from './rl.ts'
export { runStages } from './run-stages.ts'
export { trainSft } from './sft.ts'
export { stages } from './stages.ts'
export { trainedOn } from './task-sets.ts'
export { trainingTasks } from './tasks.ts'
export { teamSolver } from './team-solver.ts'
