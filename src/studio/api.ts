/**
 * The contract between the studio's page and its server: types only, nothing to run. What is sent is in `api/`.
 *
 * Every list is a `Page`: send its `next` back as `cursor` for more. Rows are short; texts come with the record itself. Texts of records
 * are what models and tools wrote: show them as text only. Parts of paths (`:run`, `:id`, …) are percent-encoded; ids may contain
 * any character.
 */
import type { JobRequest, JobRow, JobView, MarkRequest, MarkView, SettingsForm } from './api/actions.ts'
import type { ChainRow, ChainView, TokensView } from './api/chains.ts'
import type { Outcome, Page, Stop } from './api/common.ts'
import type { CheckpointView, CompareRow, CompareView, SettingsView } from './api/compare.ts'
import type { EvalDiff, EvalItem, EvalRow, EvalView } from './api/evaluations.ts'
import type { FilterView } from './api/filter.ts'
import type { LiveMessage } from './api/live.ts'
import type { GroupRow, GroupView, RolloutOrder, RolloutRow, RolloutView, StepRow } from './api/rollouts.ts'
import type { Curves, MetricNames, RunOverview, RunRow, Session } from './api/runs.ts'
import type {
  EventPage,
  EventView,
  TaskRow,
  TaskView,
  TrajectoryRow,
  TrajectoryView,
} from './api/trajectories.ts'

export type * from './api/actions.ts'
export type * from './api/chains.ts'
export type * from './api/common.ts'
export type * from './api/compare.ts'
export type * from './api/evaluations.ts'
export type * from './api/filter.ts'
export type * from './api/live.ts'
export type * from './api/rollouts.ts'
export type * from './api/runs.ts'
export type * from './api/trajectories.ts'

interface Paging {
  cursor?: string
  /** Default 100, at most 500. */
  limit?: number
}

/**
 * Every endpoint, by method and path. Queries are strings in the URL; numbers and booleans as usual, lists separated by commas.
 * `search` finds rows whose question, answer or id contains the text, in any case.
 */
export interface Api {
  'GET /api/session': { reply: Session }
  'GET /api/runs': { query: Paging; reply: Page<RunRow> }
  'GET /api/runs/:run': { reply: RunOverview }
  'GET /api/runs/:run/metrics': { reply: MetricNames }
  'GET /api/metrics': {
    query: { runs: string[]; stage: string; names: string[]; points?: number }
    reply: Curves
  }

  'GET /api/runs/:run/tasks': {
    query: Paging & { suite?: string; split?: string; search?: string }
    reply: Page<TaskRow>
  }
  'GET /api/runs/:run/tasks/:id': { reply: TaskView }
  'GET /api/runs/:run/trajectories': {
    query: Paging & { outcome?: Outcome; suite?: string; task?: string; search?: string }
    reply: Page<TrajectoryRow>
  }
  'GET /api/runs/:run/trajectories/:id': { reply: TrajectoryView }
  'GET /api/runs/:run/trajectories/:id/events': { query: Paging; reply: EventPage }
  'GET /api/runs/:run/trajectories/:id/events/:event': { reply: EventView }

  'GET /api/runs/:run/chains': {
    query: Paging & {
      kept?: boolean
      /** The filter's stage and reason for dropping it. */
      stage?: string
      reason?: string
      mark?: 'good' | 'bad'
      outcome?: Outcome
      suite?: string
      task?: string
      search?: string
    }
    reply: Page<ChainRow>
  }
  'GET /api/runs/:run/chains/:id': { reply: ChainView }
  'GET /api/runs/:run/chains/:id/tokens': { query: TokenRange; reply: TokensView }
  'GET /api/runs/:run/filter': { reply: FilterView }

  'GET /api/runs/:run/steps': { query: Paging & { order?: 'step' | '-step' }; reply: Page<StepRow> }
  'GET /api/runs/:run/groups': {
    query: Paging & {
      step?: number
      suite?: string
      task?: string
      order?: 'log' | '-log' | 'reward' | '-reward' | 'spread' | '-spread'
    }
    reply: Page<GroupRow>
  }
  'GET /api/runs/:run/groups/:id': { reply: GroupView }
  'GET /api/runs/:run/rollouts': {
    query: Paging & {
      step?: number
      group?: string
      task?: string
      suite?: string
      checkpoint?: string
      outcome?: Outcome
      stop?: Stop
      search?: string
      order?: RolloutOrder
    }
    reply: Page<RolloutRow>
  }
  'GET /api/runs/:run/rollouts/:id': { reply: RolloutView }
  'GET /api/runs/:run/rollouts/:id/tokens': { query: TokenRange; reply: TokensView }

  'GET /api/runs/:run/evals': { reply: Page<EvalRow> }
  'GET /api/runs/:run/evals/:id': { reply: EvalView }
  'GET /api/runs/:run/evals/:id/items': {
    query: Paging & { suite?: string; only?: 'disagreements'; search?: string }
    reply: Page<EvalItem>
  }
  /** `before` and `after` are RUN/EVAL/SOLVER, each part percent-encoded. */
  'GET /api/evals/compare': { query: { before: string; after: string }; reply: EvalDiff }

  'GET /api/runs/:run/compare': {
    query: Paging & { suite?: string; only?: 'disagreements' | 'team' | 'model' }
    reply: Page<CompareRow>
  }
  'GET /api/runs/:run/compare/:task': { reply: CompareView }
  'GET /api/runs/:run/checkpoints': { reply: Page<CheckpointView> }
  'GET /api/runs/:run/settings': { query: { stage?: string }; reply: SettingsView }

  /** For the form: the JSON Schema of the settings, and the project's own values. */
  'GET /api/settings': { reply: SettingsForm }
  'GET /api/jobs': { reply: Page<JobRow> }
  'GET /api/jobs/:id': { reply: JobView }
  'POST /api/jobs': { body: JobRequest; reply: JobRow }
  /** Saves what there is, as Ctrl-C does. A second one ends it at once. */
  'POST /api/jobs/:id/stop': { body: Record<string, never>; reply: JobRow }
  'GET /api/runs/:run/marks': { query: Paging; reply: Page<MarkView> }
  'POST /api/runs/:run/marks': { body: MarkRequest; reply: MarkView | null }

  /** Server-sent events, not JSON. */
  'GET /api/live': { query: { run?: string; job?: string; after?: number }; reply: LiveMessage[] }
}

interface TokenRange {
  from?: number
  /** At most 20,000. */
  count?: number
}
