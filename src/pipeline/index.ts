export { runStages, type StageOutcome } from './run-stages.ts'
export type { Stage, StageContext } from './stage.ts'
export { stages } from './stages.ts'
