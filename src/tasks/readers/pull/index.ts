export { type PulledBenchmark, type PullOptions, pullBenchmark } from './pull-benchmark.ts'
