import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyOf, sendJson } from '../base/http/index.ts'
import { parseJson } from '../schema/index.ts'
import type { Api, Page, Session, SettingsForm } from './api.ts'
import type { DataThread } from './data/data-thread.ts'
import type { RunEndpoint } from './data/readers.ts'
import type { Guard } from './guard.ts'
import { readRequest } from './jobs/job-command.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { LiveFeed } from './live-feed.ts'
import { Problem } from './problem.ts'

const BODY_BYTES = 2 ** 20

export interface RouteParts {
  session: Session
  settings: () => SettingsForm
  guard: Guard
  thread: DataThread
  jobs: Jobs
  feed: LiveFeed
}

interface Exchange {
  incoming: IncomingMessage
  outgoing: ServerResponse
  names: string[]
  query: Readonly<Record<string, string>>
}

export interface Route {
  method: string
  /** Without `/api`; `undefined` stands for a name. */
  path: (string | undefined)[]
  handle: (exchange: Exchange) => Promise<void>
}

/** Of runs. A Record, so that none can be forgotten. */
const runEndpoints: Record<RunEndpoint, true> = {
  'GET /api/runs': true,
  'GET /api/runs/:run': true,
  'GET /api/runs/:run/metrics': true,
  'GET /api/metrics': true,
  'GET /api/runs/:run/tasks': true,
  'GET /api/runs/:run/tasks/:id': true,
  'GET /api/runs/:run/trajectories': true,
  'GET /api/runs/:run/trajectories/:id': true,
  'GET /api/runs/:run/trajectories/:id/events': true,
  'GET /api/runs/:run/trajectories/:id/events/:event': true,
  'GET /api/runs/:run/chains': true,
  'GET /api/runs/:run/chains/:id': true,
  'GET /api/runs/:run/chains/:id/tokens': true,
  'GET /api/runs/:run/filter': true,
  'GET /api/runs/:run/steps': true,
  'GET /api/runs/:run/groups': true,
  'GET /api/runs/:run/groups/:id': true,
  'GET /api/runs/:run/rollouts': true,
  'GET /api/runs/:run/rollouts/:id': true,
  'GET /api/runs/:run/rollouts/:id/tokens': true,
  'GET /api/runs/:run/evals': true,
  'GET /api/runs/:run/evals/:id': true,
  'GET /api/runs/:run/evals/:id/items': true,
  'GET /api/evals/compare': true,
  'GET /api/runs/:run/compare': true,
  'GET /api/runs/:run/compare/:task': true,
  'GET /api/runs/:run/checkpoints': true,
  'GET /api/runs/:run/settings': true,
  'GET /api/runs/:run/marks': true,
  'POST /api/runs/:run/marks': true,
}

type Reply<E extends keyof Api> = Api[E]['reply']
type OwnEndpoint = Exclude<keyof Api, RunEndpoint>

/** The API, endpoint by endpoint. With --read-only, those with effects do not exist. */
export function routesOf({ session, settings, guard, thread, jobs, feed }: RouteParts): Route[] {
  const json =
    <E extends OwnEndpoint>(reply: (exchange: Exchange) => Reply<E> | Promise<Reply<E>>) =>
    async (exchange: Exchange): Promise<void> =>
      sendJson(exchange.outgoing, 200, await reply(exchange))
  const own: Record<OwnEndpoint, Route['handle']> = {
    'GET /api/session': json<'GET /api/session'>(() => session),
    'GET /api/settings': json<'GET /api/settings'>(settings),
    'GET /api/jobs': json<'GET /api/jobs'>(
      (): Page<ReturnType<Jobs['list']>[number]> => ({ rows: jobs.list() }),
    ),
    'GET /api/jobs/:id': json<'GET /api/jobs/:id'>(({ names }) => jobs.view(names[0]!)),
    'POST /api/jobs': json<'POST /api/jobs'>(async ({ incoming }) =>
      jobs.start(readRequest(await jsonOf(incoming, guard))),
    ),
    'POST /api/jobs/:id/stop': json<'POST /api/jobs/:id/stop'>(async ({ incoming, names }) => {
      await jsonOf(incoming, guard)
      return jobs.stop(names[0]!)
    }),
    'GET /api/live': async ({ incoming, outgoing, query }) => {
      const after = incoming.headers['last-event-id'] ?? query['after']
      const { run, job } = query
      feed.add(outgoing, {
        ...(run === undefined ? {} : { run }),
        ...(job === undefined ? {} : { job }),
        ...(after !== undefined && /^\d{1,15}$/.test(String(after)) ? { after: Number(after) } : {}),
      })
    },
  }
  const ofRuns = (Object.keys(runEndpoints) as RunEndpoint[]).map((endpoint) =>
    routeOf(endpoint, async ({ incoming, outgoing, names, query }) => {
      const body = incoming.method === 'POST' ? await jsonOf(incoming, guard) : undefined
      const reply = await thread.read(endpoint, names, query, jobs.byRun(), body)
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(reply)
    }),
  )
  const others = (Object.keys(own) as OwnEndpoint[]).map((endpoint) => routeOf(endpoint, own[endpoint]))
  return [...others, ...ofRuns].filter(({ method }) => !session.readOnly || method === 'GET')
}

function routeOf(endpoint: string, handle: Route['handle']): Route {
  const [method = '', path = ''] = endpoint.split(' ')
  const parts = path.split('/').slice(1)
  return { method, path: parts.map((part) => (part.startsWith(':') ? undefined : part)), handle }
}

async function jsonOf(incoming: IncomingMessage, guard: Guard): Promise<unknown> {
  guard.checkAction(incoming)
  const bytes = await bodyOf(incoming, BODY_BYTES)
  if (bytes === undefined) throw new Problem(413, `the request is longer than ${BODY_BYTES} bytes`)
  try {
    return parseJson(bytes.toString())
  } catch (error) {
    throw new Problem(400, `the request is not JSON: ${(error as Error).message}`)
  }
}

/** The route for a path, with the names in it, decoded once. */
export function findRoute(
  routes: readonly Route[],
  method: string,
  path: string,
  readOnly: boolean,
): { route: Route; names: string[] } {
  const parts = path.split('/').slice(1)
  const matching = routes.filter(
    (route) =>
      route.path.length === parts.length &&
      route.path.every((part, at) => (part === undefined ? parts[at] !== '' : part === parts[at])),
  )
  const route = matching.find((one) => one.method === method)
  if (route === undefined) {
    if (readOnly && method !== 'GET' && method !== 'HEAD')
      throw new Problem(403, 'this studio is read-only', {
        code: 'read_only',
        fix: 'Start it without --read-only.',
      })
    throw matching.length > 0
      ? new Problem(405, `${method} is not possible here`)
      : new Problem(404, 'there is nothing here')
  }
  return { route, names: parts.flatMap((part, at) => (route.path[at] === undefined ? [decoded(part)] : [])) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Problem(400, 'the path cannot be read')
  }
}
