import type { Api } from '../api.ts'
import { checkpoints } from './checkpoints.ts'
import { compared, comparison } from './compare.ts'
import { Evals } from './evals.ts'
import { group } from './group.ts'
import { chains, groups, marks, rollouts, steps, tasks, trajectories } from './lists.ts'
import { mark } from './mark.ts'
import { Metrics } from './metrics.ts'
import { type OpenRun, OpenRuns } from './open-runs.ts'
import type { Query } from './query.ts'
import { chain, event, events, rollout, task, trajectory } from './records.ts'
import { filterView, type JobsByRun, overview, runs } from './runs.ts'
import { settingsOf } from './settings.ts'
import type { Tokens } from './tokens.ts'

export interface ReaderOptions {
  /** The folder of the runs. */
  folder: string
  /** The default of each setting, by dotted key. */
  defaults: Readonly<Record<string, unknown>>
}

export interface Request {
  /** The parts of the path that are not fixed, in order. */
  names: readonly string[]
  query: Query
  jobs: JobsByRun
  body?: unknown
}

/** The endpoints that are about runs, and nothing else. */
export type RunEndpoint = Exclude<
  keyof Api,
  | `POST /api/jobs${string}`
  | 'GET /api/session'
  | 'GET /api/settings'
  | 'GET /api/jobs'
  | 'GET /api/jobs/:id'
  | 'GET /api/live'
>

type Readers = {
  [E in RunEndpoint]: (request: Request) => Api[E]['reply'] | Promise<Api[E]['reply']>
}

export function readersOf({ folder, defaults }: ReaderOptions): {
  open: OpenRuns
  metrics: Metrics
  readers: Readers
} {
  const open = new OpenRuns(folder)
  const metrics = new Metrics(open)
  const evals = new Evals()
  // Tokenizers are loaded when tokens are first looked at.
  let loading: Promise<Tokens> | undefined
  const tokens = (): Promise<Tokens> => {
    loading ??= import('./tokens.ts').then((module) => new module.Tokens())
    return loading
  }
  const listOf =
    <T>(list: (index: OpenRun['index'], query: Query) => T) =>
    ({ names, query }: Request): T =>
      list(open.get(names[0]!).index, query)
  const recordOf =
    <T>(read: (run: OpenRun, id: string, query: Query) => T) =>
    ({ names, query }: Request): T =>
      read(open.get(names[0]!), names[1]!, query)
  const readers: Readers = {
    'GET /api/runs': ({ query, jobs }) => runs(open, query, jobs),
    'GET /api/runs/:run': ({ names, jobs }) => overview(open, names[0]!, metrics, jobs),
    'GET /api/runs/:run/metrics': ({ names }) => metrics.names(names[0]!),
    'GET /api/metrics': ({ query }) => metrics.curves(query),
    'GET /api/runs/:run/tasks': listOf(tasks),
    'GET /api/runs/:run/tasks/:id': recordOf(task),
    'GET /api/runs/:run/trajectories': listOf(trajectories),
    'GET /api/runs/:run/trajectories/:id': recordOf(trajectory),
    'GET /api/runs/:run/trajectories/:id/events': recordOf(events),
    'GET /api/runs/:run/trajectories/:id/events/:event': ({ names: [run, id, one] }) =>
      event(open.get(run!), id!, one!),
    'GET /api/runs/:run/chains': listOf(chains),
    'GET /api/runs/:run/chains/:id': recordOf(chain),
    'GET /api/runs/:run/chains/:id/tokens': recordOf(async (run, id, query) =>
      (await tokens()).ofChain(run, id, query),
    ),
    'GET /api/runs/:run/filter': ({ names }) => filterView(open.get(names[0]!)),
    'GET /api/runs/:run/steps': listOf(steps),
    'GET /api/runs/:run/groups': listOf(groups),
    'GET /api/runs/:run/groups/:id': recordOf(group),
    'GET /api/runs/:run/rollouts': listOf(rollouts),
    'GET /api/runs/:run/rollouts/:id': recordOf(rollout),
    'GET /api/runs/:run/rollouts/:id/tokens': recordOf(async (run, id, query) =>
      (await tokens()).ofRollout(run, id, query),
    ),
    'GET /api/runs/:run/evals': ({ names }) => evals.list(open.get(names[0]!)),
    'GET /api/runs/:run/evals/:id': recordOf((run, id) => evals.one(run, id)),
    'GET /api/runs/:run/evals/:id/items': recordOf((run, id, query) => evals.items(run, id, query)),
    'GET /api/evals/compare': ({ query }) => evals.diff(open, query),
    'GET /api/runs/:run/compare': listOf(compared),
    'GET /api/runs/:run/compare/:task': recordOf(comparison),
    'GET /api/runs/:run/checkpoints': ({ names }) => ({ rows: checkpoints(open.get(names[0]!)) }),
    'GET /api/runs/:run/settings': ({ names, query }) =>
      settingsOf(open.dirOf(names[0]!), query.text('stage'), defaults),
    'GET /api/runs/:run/marks': listOf(marks),
    'POST /api/runs/:run/marks': ({ names, body }) => mark(open, names[0]!, body),
  }
  return { open, metrics, readers }
}
