export { runStages, type StageOutcome } from './run-stages.ts'
export { stages } from './stages.ts'
export { storeTasks } from './tasks.ts'
