import type { EarlierTurn, RolloutSettings, StepListener } from '../../agent/index.ts'
import type { EventStream } from '../event-stream.ts'
import { factsOf } from '../reply-facts.ts'
import type { Prepared, Reply } from '../service.ts'
import type { Trace } from '../trace.ts'
import type { ServedTokens } from '../usage.ts'
import { OutputWriter } from './output-writer.ts'
import type { ResponseStore } from './response-store.ts'
import type { ResponsesRequest } from './responses-request.ts'

type Defaults = Pick<RolloutSettings, 'temperature' | 'topP'>

interface Running {
  prepared: Prepared
  request: ResponsesRequest
  /** The client runs the tools. */
  clientTools: boolean
  defaults: Defaults
  listenerOf: (listener: StepListener) => StepListener
  store: ResponseStore
  signal: AbortSignal
  trace: Trace
}

/** A response that may fail after its stream has begun. */
export interface ResponseWork {
  run(): Promise<{ body: Record<string, unknown>; reply: Reply }>
  /** Says in the stream that it failed. */
  fail(error: { message: string; type: string; code: string | null; param: string | null }): void
}

/** Runs a request for a response, and streams its events if there is a stream. */
export function createResponse(
  { prepared, request, clientTools, defaults, listenerOf, store, signal, trace }: Running,
  stream: EventStream | undefined,
): ResponseWork {
  const { fields } = request
  const id = `resp_${prepared.id}`
  const created = Math.floor(Date.now() / 1000)
  let sequence = 0
  const emit = (type: string, rest: Record<string, unknown>): void =>
    stream?.send({ type, sequence_number: sequence++, ...rest }, type)
  const writer = new OutputWriter(clientTools, emit)
  const bodyOf = (
    status: string,
    rest: Record<string, unknown> = {},
  ): Record<string, unknown> & { id: string } => ({
    id,
    ...template(request, defaults),
    created_at: created,
    status,
    ...rest,
  })
  return {
    run: async () => {
      emit('response.created', { response: bodyOf('in_progress') })
      emit('response.in_progress', { response: bodyOf('in_progress') })
      const [reply] = (await prepared.run(() => listenerOf(writer), signal, trace)) as [Reply]
      writer.finish(reply)
      // A chain that met a limit is complete, too: some clients throw away what is not.
      const { steps: _, ...facts } = factsOf(reply)
      const body = bodyOf('completed', {
        completed_at: Math.floor(Date.now() / 1000),
        output: writer.items,
        usage: usageOf(reply.tokens),
        coa: facts,
      })
      if (fields.store ?? true) store.add(stored(body, request, writer))
      emit('response.completed', { response: body })
      return { body, reply }
    },
    fail: (error) => {
      const { code, message, param } = error
      emit('error', { code, message, param, error })
      emit('response.failed', {
        response: bodyOf('failed', {
          output: writer.items,
          error: { code: error.code ?? 'server_error', message: error.message },
        }),
      })
    },
  }
}

function stored(
  body: Record<string, unknown> & { id: string },
  { items, turns }: ResponsesRequest,
  writer: OutputWriter,
): Parameters<ResponseStore['add']>[0] {
  const answer: EarlierTurn | undefined =
    writer.answer === '' ? undefined : { by: 'Assistant', text: writer.answer }
  return {
    body,
    input: items,
    turns: answer === undefined ? turns : [...turns, answer],
    items: new Map(writer.items.map(({ id, type }) => [id, type === 'message' ? answer : undefined])),
  }
}

/** All fields of the API's response, with what the request says. */
function template({ fields }: ResponsesRequest, defaults: Defaults): Record<string, unknown> {
  const given = fields as Record<string, unknown>
  return {
    object: 'response',
    completed_at: null,
    incomplete_details: null,
    model: fields.model,
    previous_response_id: fields.previous_response_id ?? null,
    instructions: fields.instructions ?? null,
    output: [],
    error: null,
    tools: (fields.tools ?? []).map((tool) =>
      tool.type === 'function' ? { description: null, parameters: null, strict: false, ...tool } : tool,
    ),
    tool_choice: fields.tool_choice ?? 'auto',
    truncation: 'disabled',
    parallel_tool_calls: false,
    text: { format: { type: 'text' } },
    top_p: fields.top_p ?? defaults.topP,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    temperature: fields.temperature ?? defaults.temperature,
    reasoning: { effort: null, summary: 'auto' },
    usage: null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    store: fields.store ?? true,
    background: false,
    service_tier: 'default',
    metadata: given['metadata'] ?? {},
    safety_identifier: null,
    prompt_cache_key: null,
  }
}

function usageOf(tokens: ServedTokens): Record<string, unknown> {
  const read = tokens.prompt + tokens.inserted
  return {
    input_tokens: read,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens.sampled,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: read + tokens.sampled,
    coa: tokens,
  }
}
