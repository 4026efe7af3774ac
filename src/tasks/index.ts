export { configuredSources, sourceNamed, suiteName } from './configured-sources.ts'
export type { Split, TaskGenerator, TaskRequest } from './contract.ts'
export { overlapOf, refuseOverlap } from './overlap.ts'
export {
  assertMayBeWritten,
  type Benchmark,
  benchmarks,
  type ColumnMap,
  isMemoryOnly,
  parseColumnMap,
  type RowReport,
  readTasks,
  taskFormats,
} from './readers/index.ts'
export { type PulledBenchmark, type PullOptions, pullBenchmark } from './readers/pull/index.ts'
export type { Dials } from './suites/expert.ts'
export { generators } from './suites/index.ts'
export {
  libraryOf,
  searchGenerator,
  serveWorld,
  type WorldServer,
  worldProvider,
  worldTools,
} from './suites/search/index.ts'
export { openTasks, parseLevels, parseSplit, type TaskSource } from './task-source.ts'
export { openTaskTools } from './task-tools.ts'
export { type ValidateOptions, type ValidationReport, validateTasks } from './validate/index.ts'
