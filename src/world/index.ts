export { openWorld, type TaskTools, type World } from './open-world.ts'
export { languageOf, toolsToDeclare, withTools } from './run-tools.ts'
