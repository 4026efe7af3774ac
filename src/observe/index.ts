export type { Observe, Progress } from './progress.ts'
