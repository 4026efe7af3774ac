import type { ChainMessage, JobRow } from './actions.ts'
import type { Indexing } from './common.ts'
import type { RolloutRow } from './rollouts.ts'
import type { RunRow } from './runs.ts'

/**
 * What `GET /api/live` sends: arrays of these, at most ten a second. `run` and `job` ask for details of one of each. The `id:` of
 * an event is the `seq` of its last message, so a browser's EventSource resumes by itself (`Last-Event-ID`); `after` does the same.
 * What was missed meanwhile comes first, or `reset` if that is too long ago: then the page loads again what it shows.
 */
export type LiveMessage = { seq: number } & LiveChange

export type LiveChange =
  | { type: 'hello' }
  | { type: 'reset' }
  /** The list of runs changed, or the state of this one. */
  | { type: 'run'; run: RunRow }
  | { type: 'runs' }
  /** More records in the run that is watched: load pages that show these kinds again. */
  | {
      type: 'records'
      run: string
      added: Record<string, number>
      indexing?: Indexing
      rollouts: RolloutRow[]
    }
  /** Rows appended to metrics.jsonl, by stage. */
  | { type: 'metrics'; run: string; rows: Record<string, number | string | boolean | null>[] }
  /** New lines of log.txt. */
  | { type: 'log'; run: string; lines: string[] }
  | { type: 'job'; job: JobRow }
  | { type: 'output'; job: string; lines: string[] }
  | { type: 'chain'; job: string; messages: ChainMessage[] }
