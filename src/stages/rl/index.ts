/** Reinforcement learning: the student trains on its own rollouts, with DAPO and related algorithms. */
export { type Chosen, filterQueries } from './choose-tasks.ts'
export type { RlContext } from './contract.ts'
export { diagnose, findingText, stepRows } from './diagnose.ts'
export type { Finding } from './rules/rule.ts'
export { run } from './run.ts'
export { servedTasks } from './served-tasks.ts'
export { rl } from './stage.ts'
export type { RlSummary } from './training.ts'
