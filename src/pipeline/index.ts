export { runStages, type StageOutcome } from './run-stages.ts'
export { trainSft } from './sft.ts'
export { stages } from './stages.ts'
export { storeTasks } from './tasks.ts'
