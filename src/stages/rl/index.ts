/** Reinforcement: the student learns from its own rollouts, by DAPO and its relatives. */
export type { Chosen } from './choose-tasks.ts'
export type { RlContext } from './contract.ts'
export { diagnose, findingText, stepRows } from './diagnose.ts'
export { filterQueries } from './filter-queries.ts'
export type { Finding } from './rules/rule.ts'
export { run } from './run.ts'
export { rl } from './stage.ts'
export type { RlSummary } from './training.ts'
