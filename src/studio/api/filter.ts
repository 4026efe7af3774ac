import type { FunnelView } from './runs.ts'

export interface FilterView {
  funnel?: FunnelView
  marks: { good: number; bad: number }
}
