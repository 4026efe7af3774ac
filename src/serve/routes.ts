import { sendJson } from '../base/http/index.ts'
import { ApiError, toApiError } from './api-error.ts'
import type { Ask, CallResult } from './ask.ts'
import { completeChat } from './chat/chat-completion.ts'
import { readChat } from './chat/chat-request.ts'
import { chatPageRoutes, exampleQuestions } from './chat-page.ts'
import type { Exchange } from './exchange.ts'
import { functionsOf } from './functions.ts'
import { takeFeedback } from './record/feedback.ts'
import { createResponse } from './responses/create-response.ts'
import { ResponseStore } from './responses/response-store.ts'
import { readResponses } from './responses/responses-request.ts'
import type { Route } from './route.ts'
import type { Prepared, Service } from './service.ts'
import type { SpanExporter } from './span-exporter.ts'
import { Trace } from './trace.ts'

interface Parts {
  service: Service
  model: string
  exporter: SpanExporter | undefined
  isStopping: () => boolean
}

/** The endpoints of the server. */
export function routesOf({ service, model, exporter, isStopping }: Parts): Route[] {
  const { serve, grammar, policy, metrics, settings } = service.parts
  const store = new ResponseStore(serve.stored)
  const created = Math.floor(Date.now() / 1000)
  const clientTools = serve.tools === 'client'

  const assertModel = (name: string): void => {
    if (name === model) return
    throw new ApiError(
      404,
      `there is no model ${JSON.stringify(name)} here; this server has ${JSON.stringify(model)}`,
      {
        code: 'model_not_found',
        param: 'model',
      },
    )
  }
  const prepare = async (ask: Ask | CallResult): Promise<Prepared> =>
    'call' in ask ? service.resume(ask) : service.prepare(ask)
  const traceOf = ({ incoming }: Exchange): Trace => {
    const { traceparent } = incoming.headers
    return new Trace(exporter, model, typeof traceparent === 'string' ? traceparent : undefined)
  }
  const described = {
    id: model,
    object: 'model',
    created,
    owned_by: 'coa',
    max_model_len: policy.engine.describe().contextLength,
    coa: {
      grammar: grammar.name,
      tools: serve.tools,
      recording: service.parts.recorder !== undefined,
      agents: [...grammar.agents.values()].map(({ name, kind }) => ({ name, kind })),
      examples: exampleQuestions(grammar, service.parts.meta),
      functions: functionsOf(grammar).map((one) => ({ type: 'function', function: one })),
    },
  }

  async function chat(exchange: Exchange): Promise<void> {
    const { signal, watched: listenerOf } = exchange
    const request = readChat(await exchange.json(), serve)
    assertModel(request.model)
    const prepared = await prepare(request.ask)
    const trace = traceOf(exchange)
    const stream = request.stream ? exchange.startStream() : undefined
    try {
      const done = await completeChat({ prepared, request, listenerOf, signal, trace }, stream)
      exchange.replies = done.replies
      if (stream === undefined) sendJson(exchange.outgoing, 200, done.body)
      trace.end({
        ...usageAttributes(
          done.body['usage'] as Record<string, number>,
          'prompt_tokens',
          'completion_tokens',
        ),
        'gen_ai.response.id': done.body['id'] as string,
        'gen_ai.response.finish_reasons': done.finishes,
      })
    } catch (error) {
      trace.end({ 'error.type': toApiError(error).code ?? 'error' })
      if (stream === undefined) throw error
      exchange.error = toApiError(error)
      stream.send(exchange.error.body())
    }
    stream?.end()
  }

  async function responses(exchange: Exchange): Promise<void> {
    const { signal, watched: listenerOf } = exchange
    const request = readResponses(await exchange.json(), { serve, grammar, store })
    assertModel(request.fields.model)
    const prepared = await prepare(request.ask)
    const trace = traceOf(exchange)
    const stream = request.fields.stream === true ? exchange.startStream() : undefined
    const work = createResponse(
      { prepared, request, clientTools, defaults: settings, listenerOf, store, signal, trace },
      stream,
    )
    try {
      const { body, reply } = await work.run()
      exchange.replies = [reply]
      if (stream === undefined) sendJson(exchange.outgoing, 200, body)
      trace.end({
        ...usageAttributes(body['usage'] as Record<string, number>, 'input_tokens', 'output_tokens'),
        'gen_ai.response.id': body['id'] as string,
        'gen_ai.response.finish_reasons': [reply.turn.rollout?.stop ?? 'tool_calls'],
      })
    } catch (error) {
      trace.end({ 'error.type': toApiError(error).code ?? 'error' })
      if (stream === undefined) throw error
      exchange.error = toApiError(error)
      work.fail(exchange.error.body().error)
    }
    stream?.end()
  }

  return [
    ...chatPageRoutes(),
    { method: 'POST', path: /^\/v1\/chat\/completions$/, endpoint: 'chat', handle: chat },
    { method: 'POST', path: /^\/v1\/responses$/, endpoint: 'responses', handle: responses },
    {
      method: 'GET',
      path: /^\/v1\/responses\/([^/]+)$/,
      endpoint: 'response',
      handle: ({ outgoing, query }, id) => {
        if (query.get('stream') === 'true') throw new ApiError(400, 'stored responses are not streamed again')
        sendJson(outgoing, 200, store.get(id).body)
      },
    },
    {
      method: 'DELETE',
      path: /^\/v1\/responses\/([^/]+)$/,
      endpoint: 'response',
      handle: ({ outgoing }, id) => {
        store.delete(id)
        sendJson(outgoing, 200, { id, object: 'response', deleted: true })
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/responses\/([^/]+)\/input_items$/,
      endpoint: 'response',
      handle: ({ outgoing }, id) =>
        sendJson(outgoing, 200, { object: 'list', data: store.get(id).input, has_more: false }),
    },
    {
      method: 'POST',
      path: /^\/v1\/feedback$/,
      endpoint: 'feedback',
      handle: async (exchange) => {
        const { recorder } = service.parts
        const stored = takeFeedback(await exchange.json(), recorder, serve.max_samples)
        metrics.feedback(stored.rating)
        sendJson(exchange.outgoing, 200, stored)
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/models$/,
      endpoint: 'models',
      handle: ({ outgoing }) => sendJson(outgoing, 200, { object: 'list', data: [described] }),
    },
    {
      method: 'GET',
      path: /^\/v1\/models\/(.+)$/,
      endpoint: 'models',
      handle: ({ outgoing }, id) => {
        assertModel(id)
        sendJson(outgoing, 200, described)
      },
    },
    {
      method: 'GET',
      path: /^\/health$/,
      endpoint: 'health',
      open: true,
      handle: ({ outgoing }) =>
        isStopping()
          ? sendJson(outgoing, 503, { status: 'stopping' })
          : sendJson(outgoing, 200, { status: 'ok' }),
    },
    {
      method: 'GET',
      path: /^\/metrics$/,
      endpoint: 'metrics',
      handle: ({ outgoing }) => {
        const { slots, held } = service
        outgoing.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(
          metrics.text({
            running: () => slots.running,
            waiting: () => slots.waiting,
            held: () => held.size,
          }),
        )
      },
    },
  ]
}

function usageAttributes(
  usage: Record<string, number>,
  read: string,
  written: string,
): Record<'gen_ai.usage.input_tokens' | 'gen_ai.usage.output_tokens', number> {
  return {
    'gen_ai.usage.input_tokens': usage[read] ?? 0,
    'gen_ai.usage.output_tokens': usage[written] ?? 0,
  }
}
