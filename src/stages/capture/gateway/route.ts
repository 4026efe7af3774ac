import { type ModelApi, modelApis } from '../../../logs/index.ts'

/** Where a request to the gateway goes. */
export interface Route {
  /** As the upstream knows it, with the query. */
  path: string
  run?: string
  agent?: string
  /** The API of a model call, which is recorded; all other requests are only relayed. */
  api?: ModelApi
  /** A request to the gateway itself. */
  command?: 'end' | 'status'
}

/** Reads `/run/ID/agent/NAME/v1/…`, where the run, the agent or both may be missing, and `/run/ID/end`. */
export function routeOf(method: string, target: string): Route {
  const at = target.indexOf('?')
  const [path, query] = at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at)]
  if (method === 'GET' && path === '/coa/status') return { path, command: 'status' }
  const [named, run, agent] = /^(?:\/run\/([^/]+))?(?:\/agent\/([^/]+))?(?=\/|$)/.exec(path) ?? ['']
  const rest = path.slice(named.length)
  const names = {
    ...(run === undefined ? {} : { run: decoded(run) }),
    ...(agent === undefined ? {} : { agent: decoded(agent) }),
  }
  if (method === 'POST' && run !== undefined && rest === '/end')
    return { path: rest, ...names, command: 'end' }
  const api = method === 'POST' ? modelApis.find((one) => isCall(rest, one.path)) : undefined
  return { path: rest + query, ...names, ...(api === undefined ? {} : { api }) }
}

/** Only the call itself: `/responses/ID/cancel` and `/messages/count_tokens` are no calls of a model. */
const isCall = (path: string, end: string): boolean => path.replace(/\/+$/, '').endsWith(end)

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
