/** Reinforcement: the student learns from its own rollouts, by DAPO and its relatives. */
export { rlSettings } from './config.ts'
export type { RlContext } from './contract.ts'
export { diagnose, findingText, stepRows } from './diagnose.ts'
export type { Finding } from './rules/rule.ts'
export { run } from './run.ts'
export type { RlSummary } from './training.ts'
