export { openWorld, type TaskTools, type World } from './open-world.ts'
export { languageOf } from './run-tools.ts'
