export type { Observe, Progress } from './progress.ts'
export { Spotlight, type Spotted } from './spotlight.ts'
