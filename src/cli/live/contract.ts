import type { Observe } from '../../base/progress/index.ts'
import type { MetricRow } from '../../store/index.ts'

export type LiveStatus = 'waiting' | 'running' | 'done' | 'failed'

/** Where long work is shown while it goes on. */
export interface LiveView {
  /** Whether trajectories are shown: where not, nobody need spell them out. */
  showsText: boolean
  observe: Observe
  /** A row as it goes to metrics.jsonl. */
  metric: (row: MetricRow) => void
  /** A piece of the trajectory that is being written. */
  text: (piece: string, from: 'model' | 'tool') => void
  /** Another trajectory begins; what was shown of the last is gone. */
  trajectory: (title: string) => void
  /** A line that stays. */
  log: (line: string) => void
  /** Says outright how a stage stands, such as done in an earlier session. Otherwise progress tells. */
  stage: (name: string, status: LiveStatus, note?: string) => void
  /** Ends the view. The stages stay on the terminal, unless it is to be cleared. */
  done: (options?: { clear?: boolean }) => void
}
