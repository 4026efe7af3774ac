/** Any suite with any solver: attempts, what they say, and how two solvers compare. */
export { attemptOfRollout } from './attempt-of-rollout.ts'
export { attemptOfTrajectory } from './attempt-of-trajectory.ts'
export { type Chat, chatOfModel, chatOfPolicy } from './chat.ts'
export type { Attempt, Solver } from './contract.ts'
export { headline } from './headline.ts'
export { pickWithJudge } from './judge-pick.ts'
export { type MakeReportOptions, makeReport, takeAttempts } from './make-report.ts'
export { mergeEvaluations } from './merge.ts'
export { type ModelSolverOptions, modelSolver } from './model-solver.ts'
export {
  amongTools,
  evalTemperature,
  type OpenSolver,
  openModelSolver,
  openTextSolver,
} from './open-solver.ts'
export { plainSolver } from './plain-solver.ts'
export { reactSolver } from './react-solver.ts'
export { reportOf } from './report.ts'
export { reportFigures } from './report-figures.ts'
export type { ReportFiles } from './report-files.ts'
export { parseShard } from './shard.ts'
export { type SolveAllContext, solveAll } from './solve-all.ts'
export { evalReportOf, evaluateAgainst } from './stage.ts'
export { mcnemar } from './statistics/mcnemar.ts'
export { passAtK } from './statistics/pass-at-k.ts'
export { wilson } from './statistics/wilson.ts'
export { textSolver } from './text-solver.ts'
export { TokenTally, tokenizerName } from './token-tally.ts'
