import type { IncomingMessage, ServerResponse } from 'node:http'
import { CoaError, UsageError } from '../../../base/errors/index.ts'
import { type Address, bodyOf, listen, sendJson } from '../../../base/http/index.ts'
import type { ModelApi } from '../../../logs/index.ts'
import { asText, at, isObject, listOf } from '../../../logs/index.ts'
import { parseJson } from '../../../schema/index.ts'
import { textOfBody } from './content-encoding.ts'
import { registerKeys, withoutCredentials } from './credentials.ts'
import { harmless } from './harmless-witness.ts'
import type { RunResult } from './journal.ts'
import type { Recording } from './recording.ts'
import { Relay } from './relay.ts'
import { isRetry, namesIn } from './request-names.ts'
import { type Route, routeOf } from './route.ts'
import { addedTo, TokenFilter, withFields } from './token-ids.ts'
import type { UpstreamUrl } from './upstream-url.ts'

export interface ServerOptions extends Address {
  upstream: UpstreamUrl
  /** Ask for token ids and log-probabilities, as vLLM reports them. */
  tokenIds: boolean
  recording: Recording
  onProblem: (problem: string) => void
}

export interface GatewayServer {
  url: string
  /** Accepts no more requests, and waits for those in progress. */
  close: () => Promise<void>
}

const EXAMPLE = 'Send {"answer": "…", "gold": "…", "reward": 1}; each of them is optional.'

export async function startServer(options: ServerOptions): Promise<GatewayServer> {
  const relay = new Relay(options.upstream)
  const { url, close } = await listen(
    options,
    (incoming, outgoing) => {
      answer(incoming, outgoing, relay, options).catch((error: Error) => failed(outgoing, error))
    },
    // Apps may take as long as they like to send a request.
    { requestTimeout: 0 },
  )
  return {
    url,
    close: async () => {
      await close()
      relay.close()
    },
  }
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  relay: Relay,
  options: ServerOptions,
): Promise<void> {
  const route = routeOf(incoming.method ?? 'GET', incoming.url ?? '/')
  const { recording } = options
  if (route.command === 'status') return sendJson(outgoing, 200, { runs: recording.status() })
  if (route.command === 'end')
    return sendJson(outgoing, 200, recording.end(route.run!, resultOf((await bodyOf(incoming)).toString())))
  const passage = { incoming, outgoing, path: route.path }
  if (route.api === undefined)
    return relay.pass({ ...passage, unreachable: (reason) => unreachable(undefined, reason) })
  const body = await bodyOf(incoming)
  record(route, route.api, body, passage, relay, options)
}

function record(
  route: Route,
  api: ModelApi,
  bytes: Buffer,
  passage: { incoming: IncomingMessage; outgoing: ServerResponse; path: string },
  relay: Relay,
  { recording, tokenIds, onProblem }: ServerOptions,
): void {
  const { headers } = passage.incoming
  registerKeys(headers, route.path)
  const text = textOfBody(bytes, headers['content-encoding'])
  const body = jsonOr(text)
  const stored = withoutCredentials(body)
  const arrived = {
    api,
    body,
    text: stored === undefined ? text : JSON.stringify(stored),
    named: namesIn(route, headers, body),
    isRetry: isRetry(headers),
  }
  const witness = harmless(() => recording.begin(arrived), onProblem)
  const isPlain = headers['content-encoding'] === undefined
  const added = tokenIds && isPlain && api.name === 'chat' ? addedTo(body) : []
  relay.pass({
    ...passage,
    body: withFields(bytes, added),
    witness,
    ...(added.length === 0 ? {} : { filter: (isStream) => new TokenFilter(added, isStream) }),
    unreachable: (reason) => unreachable(api, reason),
  })
}

function jsonOr(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

function resultOf(text: string): RunResult {
  const body = jsonOr(text)
  if (text.trim() !== '' && !isObject(body))
    throw new UsageError('the result of the run is not a JSON object', { fix: EXAMPLE })
  const [answer, gold, reward] = [at(body, 'answer'), at(body, 'gold'), at(body, 'reward')]
  if (reward !== undefined && reward !== null && typeof reward !== 'number')
    throw new UsageError('the reward is not a number', { fix: EXAMPLE })
  return {
    ...(answer === undefined || answer === null ? {} : { answer: asText(answer) }),
    ...(gold === undefined || gold === null
      ? {}
      : { gold: (Array.isArray(gold) ? listOf(gold) : [gold]).map(asText) }),
    ...(typeof reward === 'number' ? { reward } : {}),
  }
}

/** A failure of the gateway itself. */
function failed(outgoing: ServerResponse, error: Error): void {
  if (outgoing.headersSent) outgoing.destroy()
  else {
    const message = CoaError.isInstance(error) ? `${error.message}. ${error.fix ?? ''}`.trim() : error.message
    sendJson(outgoing, error instanceof UsageError ? 400 : 500, { error: { message, type: 'coa_record' } })
  }
}

/** An error as the API's clients read it. */
function unreachable(api: ModelApi | undefined, reason: string): string {
  const error = { type: 'api_error', message: `coa record cannot reach the upstream: ${reason}` }
  return JSON.stringify(api?.name === 'messages' ? { type: 'error', error } : { error })
}
