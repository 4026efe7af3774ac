import type { Benchmark } from './registry/benchmark.ts'
import { codeBenchmarks } from './registry/code.ts'
import { mathBenchmarks } from './registry/math.ts'
import { questionBenchmarks } from './registry/questions.ts'
import { webBenchmarks } from './registry/web.ts'

export type { Benchmark, BenchmarkFile } from './registry/benchmark.ts'

/**
 * The public benchmarks that coa can read. Addresses and field names come from the publishers' own pages and loaders.
 */
export const benchmarks: readonly Benchmark[] = [
  ...mathBenchmarks,
  ...codeBenchmarks,
  ...questionBenchmarks,
  ...webBenchmarks,
]

/** The names of all file formats: the benchmarks' own, and three that are not tied to a benchmark. */
export const taskFormats: readonly string[] = [...benchmarks.map(({ name }) => name), 'verl', 'plain', 'coa']
