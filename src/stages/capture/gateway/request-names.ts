import type { IncomingHttpHeaders } from 'node:http'
import { at, isObject, textOf } from '../../../logs/index.ts'
import type { Named } from './conversations.ts'
import type { Route } from './route.ts'

/** Headers and fields by which other gateways and servers know runs, the surest first. */
const runHeaders = ['x-coa-run', 'x-rollout-id', 'x-litellm-trace-id', 'x-litellm-session-id']
const agentHeaders = ['x-coa-agent', 'x-litellm-agent-id']
const runFields = ['coa_run', 'run_id', 'session_id', 'litellm_session_id', 'trace_id']
const agentFields = ['coa_agent', 'agent', 'agent_name']

/** What a request says about its run and agent: in its path, in headers, or in its body's metadata. */
export function namesIn(route: Route, headers: IncomingHttpHeaders, body: unknown): Named {
  const metadata = at(body, 'metadata')
  return {
    run:
      route.run ??
      firstOf(headers, runHeaders) ??
      sessionHeader(headers) ??
      firstOf(metadata, runFields) ??
      sessionOfUser(textOf(at(metadata, 'user_id'))) ??
      firstOf(body, ['session_id', 'litellm_session_id']) ??
      conversationOf(body),
    agent: route.agent ?? firstOf(headers, agentHeaders) ?? firstOf(metadata, agentFields),
  }
}

/** Whether the client's library says that it repeats a request. */
export const isRetry = (headers: IncomingHttpHeaders): boolean =>
  Number(headers['x-stainless-retry-count'] ?? 0) > 0

function firstOf(values: unknown, names: readonly string[]): string | undefined {
  if (!isObject(values)) return undefined
  const found = names.map((name) => values[name]).find((value) => typeof value === 'string' && value !== '')
  return textOf(found)
}

function sessionHeader(headers: IncomingHttpHeaders): string | undefined {
  const name = Object.keys(headers).find((one) => /^x-(?:[a-z0-9]+-)*session-id$/.test(one))
  return name === undefined ? undefined : textOf(headers[name])
}

const sessionOfUser = (user: string | undefined): string | undefined =>
  /_session_([\w-]+)$/.exec(user ?? '')?.[1]

const conversationOf = (body: unknown): string | undefined =>
  textOf(at(body, 'conversation')) ?? textOf(at(body, 'conversation', 'id'))
