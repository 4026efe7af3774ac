import type { Observe } from '../../base/progress/index.ts'
import type { MetricRow } from '../../store/index.ts'

export type LiveStatus = 'waiting' | 'running' | 'done' | 'failed'

/** Shows the progress of long work. */
export interface LiveView {
  /** Whether trajectories are shown; if not, there is no need to pass them. */
  showsText: boolean
  observe: Observe
  /** A row of metrics.jsonl. */
  metric: (row: MetricRow) => void
  /** A piece of the current trajectory. */
  text: (piece: string, from: 'model' | 'tool') => void
  /** A new trajectory begins and replaces the one shown. */
  trajectory: (title: string) => void
  /** Prints a line above the view. */
  log: (line: string) => void
  /** Sets the status of a stage, such as one that an earlier process completed. Otherwise, progress determines it. */
  stage: (name: string, status: LiveStatus, note?: string) => void
  /** Closes the view. The list of stages stays on the terminal unless `clear` is set. */
  done: (options?: { clear?: boolean }) => void
}
