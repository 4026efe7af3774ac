export { inBatches } from './in-batches.ts'
export { inParallel } from './in-parallel.ts'
export { type Limiter, limiter } from './limiter.ts'
