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
