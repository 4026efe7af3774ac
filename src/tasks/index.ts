export type { Split } from '../schema/index.ts'
export { sourceNamed, suiteName } from './configured-sources.ts'
export type { EvalQuestions } from './contamination/eval-questions.ts'
export { type ContaminationConfig, readEvalQuestions } from './contamination/read-eval-questions.ts'
export { overlapOf, refuseOverlap } from './overlap.ts'
export { questionKey } from './question-key.ts'
export {
  assertMayBeWritten,
  type Benchmark,
  benchmarks,
  type ColumnMap,
  goldOfAnswer,
  isMemoryOnly,
  parseColumnMap,
  type ReadOptions,
  type RowReport,
  readTasks,
} from './readers/index.ts'
export { type PulledBenchmark, type PullOptions, pullBenchmark } from './readers/pull/pull-benchmark.ts'
export {
  type Dials,
  type Expert,
  type ExpertMessage,
  type GeneratedTask,
  libraryOf,
  madeBy,
  type Order,
  type Suite,
  searchSuite,
  serveWorld,
  suites,
  type TaskRequest,
  type WorldServer,
  worldTools,
} from './suites/index.ts'
export {
  heldOutTasks,
  measuringTasks,
  readSplit,
  tasksToPractise,
  trainedOn,
  trainingTasks,
} from './task-sets.ts'
export { openTasks, parseLevels, parseSplit, type TaskSource } from './task-source.ts'
export { openTaskTools } from './task-tools.ts'
export { type ValidateOptions, type ValidationReport, validateTasks } from './validate/index.ts'
