export { type Benchmark, type BenchmarkFile, benchmarks, taskFormats } from './benchmarks.ts'
export { type ColumnMap, columnMapOf, parseColumnMap } from './formats/plain.ts'
export { assertMayBeWritten, isMemoryOnly } from './memory-only.ts'
export { isTask, type ReadOptions, type RowReport, readTasks } from './read-tasks.ts'
