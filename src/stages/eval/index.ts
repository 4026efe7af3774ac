/** Evaluates any solver on any suite, and compares solvers. */
export { attemptOfRollout, attemptOfTrajectory } from './attempts.ts'
export { type Chat, chatOfModel, chatOfPolicy } from './chat.ts'
export type { Attempt, Solver } from './contract.ts'
export {
  evalReportOf,
  type MakeReportOptions,
  makeReport,
  type ReportFiles,
  reportMetrics,
  reportOf,
} from './make-report.ts'
export { mergeEvaluations, takeAttempts } from './merge.ts'
export {
  type ModelSolverOptions,
  modelSolver,
  type OpenSolver,
  openModelSolver,
  openTalkSolver,
  openTextSolver,
  talkSolver,
  withToolSettings,
} from './open-solver.ts'
export { pickWithJudge } from './pick.ts'
export { plainSolver } from './plain-solver.ts'
export { reactSolver } from './react-solver.ts'
export { headline } from './report-text.ts'
export type { SolverKind } from './settings.ts'
export { parseShard, type SolveAllContext, solveAll } from './solve-all.ts'
export { evaluateAgainst } from './stage.ts'
export { mcnemar, passAtK, wilson } from './statistics.ts'
export { textSolver } from './text-solver.ts'
export { TokenTally, tokenizerName } from './token-tally.ts'
