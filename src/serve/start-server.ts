import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen, sendJson } from '../base/http/index.ts'
import { ApiError, toApiError } from './api-error.ts'
import { Exchange } from './exchange.ts'
import { Guard } from './guard.ts'
import { assertProtected } from './keys.ts'
import type { RequestLog } from './request-log.ts'
import type { Route } from './route.ts'
import { routesOf } from './routes.ts'
import type { Service } from './service.ts'
import type { SpanExporter } from './span-exporter.ts'
import { sumOf } from './usage.ts'

export interface ServerParts {
  service: Service
  /** Its id in the API, unless the settings name another. */
  model: string
  keys: readonly string[]
  exporter: SpanExporter | undefined
  onRequest: (log: RequestLog) => void
}

export interface ApiServer {
  url: string
  /** The model's id in the API. */
  model: string
  /** Refuses new requests, waits for those in progress as long as the settings say, and stops. */
  stop: () => Promise<void>
}

/** As proxies log it if the client does not wait for the response. */
const CLIENT_GONE = 499
/** How long a client may take to read the end of a response when the server stops. */
const LAST_BYTES_MS = 1000

/** Serves a model over HTTP. */
export async function startServer(parts: ServerParts): Promise<ApiServer> {
  const { service, exporter } = parts
  const { serve, metrics } = service.parts
  assertProtected(serve, parts.keys)
  const guard = new Guard(serve, parts.keys)
  const running = new Set<Exchange>()
  let stopping = false
  let idle: () => void = () => {}
  const model = serve.name ?? parts.model
  const routes = routesOf({ ...parts, model, isStopping: () => stopping })

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const exchange = new Exchange(incoming, outgoing, Math.round(serve.body_mb * 1e6))
    running.add(exchange)
    outgoing.once('close', () => {
      running.delete(exchange)
      const status = outgoing.writableFinished ? outgoing.statusCode : CLIENT_GONE
      metrics.request(exchange.endpoint, status, exchange.seconds)
      if (exchange.firstText !== undefined) metrics.firstToken(exchange.firstText)
      parts.onRequest(logOf(exchange, status))
      if (running.size === 0) idle()
    })
    try {
      await respond(exchange)
    } catch (error) {
      fail(exchange, toApiError(error))
    }
  }

  const respond = async (exchange: Exchange): Promise<void> => {
    const { incoming, outgoing, path } = exchange
    guard.checkSender(incoming, outgoing)
    if (incoming.method === 'OPTIONS') return guard.preflight(incoming, outgoing)
    const { route, id } = routeOf(routes, incoming.method ?? 'GET', path)
    exchange.endpoint = route.endpoint
    if (route.open !== true) guard.checkKey(incoming)
    if (stopping && route.open !== true) throw stopped()
    await route.handle(exchange, id)
  }

  const server = await listen(serve, (incoming, outgoing) => void handle(incoming, outgoing))
  return {
    url: server.url,
    model,
    stop: async () => {
      stopping = true
      if (running.size > 0) {
        const timers = [
          setTimeout(() => {
            for (const exchange of running) exchange.stop(stopped())
          }, serve.shutdown_s * 1000),
          setTimeout(server.abandon, serve.shutdown_s * 1000 + LAST_BYTES_MS),
        ]
        await new Promise<void>((resolve) => {
          idle = resolve
        })
        for (const timer of timers) clearTimeout(timer)
      }
      service.held.close()
      await server.close()
      await exporter?.flush()
    },
  }
}

const stopped = (): ApiError =>
  new ApiError(503, 'the server is stopping', {
    code: 'server_stopping',
    headers: { 'retry-after': '5', connection: 'close' },
  })

function routeOf(routes: readonly Route[], method: string, path: string): { route: Route; id: string } {
  const matching = routes.filter((route) => route.path.test(path))
  const route = matching.find((one) => one.method === method)
  if (route !== undefined) return { route, id: decoded(route.path.exec(path)![1] ?? '') }
  if (matching.length > 0)
    throw new ApiError(405, `${path} does not accept ${method}`, {
      headers: { allow: matching.map((one) => one.method).join(', ') },
    })
  throw new ApiError(404, `there is no ${path} here; use /v1/chat/completions or /v1/responses`, {
    code: 'unknown_url',
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function fail(exchange: Exchange, error: ApiError): void {
  exchange.error = error
  const { outgoing } = exchange
  if (outgoing.headersSent) outgoing.destroy()
  else sendJson(outgoing, error.status, error.body(), error.headers)
}

function logOf(exchange: Exchange, status: number): RequestLog {
  const { id, incoming, path, seconds, replies, error } = exchange
  return {
    event: 'request',
    time: new Date().toISOString(),
    id,
    method: incoming.method ?? '',
    path,
    status,
    seconds: Math.round(seconds * 1000) / 1000,
    ...(replies.length === 0
      ? {}
      : {
          stops: replies.map(({ turn }) => turn.rollout?.stop ?? 'tool-call'),
          tokens: sumOf(replies.map(({ tokens }) => tokens)),
        }),
    ...(error === undefined ? {} : { error: error.message }),
  }
}
