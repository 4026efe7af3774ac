export { openWorld, type TaskTools, type World } from './open-world.ts'
