import { z } from 'zod'
import { type EarlierTurn, questionOf } from '../../agent/index.ts'
import { ApiError, unsupported } from '../api-error.ts'
import type { Ask, CallResult } from '../ask.ts'
import type { ClientFunction } from '../functions.ts'
import { readFields, refuse } from '../read-fields.ts'
import { samplingFields, samplingOf } from '../sampling-fields.ts'
import type { ServeSection } from '../settings.ts'

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish()

const Message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Content,
  tool_call_id: z.string().nullish(),
})
type Message = z.infer<typeof Message>

const Tool = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({
      name: z.string().min(1),
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.json()).nullish(),
    })
    .optional(),
})

const Fields = z.looseObject({
  ...samplingFields,
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  n: z.number().int().positive().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: z.unknown().optional(),
  response_format: z.looseObject({ type: z.string() }).nullish(),
  modalities: z.array(z.string()).nullish(),
})

/** A request for chat completions, as far as this server honors it. */
export interface ChatRequest {
  model: string
  stream: boolean
  includeUsage: boolean
  stop: readonly string[]
  /** A question, or the result of a tool call that a chain waits for. */
  ask: Ask | CallResult
}

const refused = {
  functions: 'use tools',
  function_call: 'use tool_choice',
  logprobs: 'the tokens of the answer are not reported',
  top_logprobs: 'the tokens of the answer are not reported',
  audio: 'this model writes text',
  logit_bias: 'the model is sampled from its own distribution',
  frequency_penalty: 'the model is sampled from its own distribution',
  presence_penalty: 'the model is sampled from its own distribution',
  web_search_options: 'the tools are those of the model',
}

export function readChat(body: unknown, serve: ServeSection): ChatRequest {
  const fields = readFields(Fields, body)
  refuse(body, refused)
  if ((fields.response_format?.type ?? 'text') !== 'text')
    throw unsupported('response_format', 'answers are text')
  if ((fields.modalities ?? []).some((one) => one !== 'text'))
    throw unsupported('modalities', 'answers are text')
  const { messages, stop } = fields
  const result = resultIn(messages, serve)
  return {
    model: fields.model,
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    stop: typeof stop === 'string' ? [stop] : (stop ?? []),
    ask: result ?? askOf(fields, serve),
  }
}

function askOf(fields: z.infer<typeof Fields>, serve: ServeSection): Ask {
  const { messages, n, max_completion_tokens: most, max_tokens: mostBefore } = fields
  const last = messages.at(-1)!
  if (last.role !== 'user')
    throw new ApiError(400, `the last message is from the ${last.role}, but it must be from the user`, {
      param: 'messages',
    })
  const maxSampled = most ?? mostBefore
  const count = n ?? 1
  const ask: Ask = {
    question: questionOf({
      instructions: messages.filter(({ role }) => role === 'system' || role === 'developer').map(textOf),
      earlier: messages.slice(0, -1).flatMap(earlierTurn),
      question: textOf(last),
    }),
    ...samplingOf(fields),
    ...toolsOf(fields, serve),
    ...(maxSampled == null ? {} : { maxSampled }),
    count,
  }
  if (count > 1 && ask.bestOf > 1) throw unsupported('n', 'use either n or coa.best_of')
  if (count * ask.bestOf > 1 && ask.functions !== undefined)
    throw unsupported(count > 1 ? 'n' : 'coa.best_of', 'with tools that the client runs, there is one chain')
  return ask
}

/** What the client runs; on a server that runs the tools itself, nothing. */
function toolsOf(
  { tools, tool_choice: choice }: z.infer<typeof Fields>,
  serve: ServeSection,
): Pick<Ask, 'tools' | 'functions'> {
  const offered = (tools ?? []).map(({ type, function: given }): ClientFunction => {
    if (type !== 'function' || given === undefined) throw unsupported('tools', 'only functions are')
    const { name, description, parameters } = given
    return { name, description: description ?? undefined, parameters: parameters ?? undefined }
  })
  if (choice === 'required' || (typeof choice === 'object' && choice !== null))
    throw unsupported('tool_choice', 'the model decides which tools it calls')
  if (serve.tools === 'client') return { functions: choice === 'none' ? [] : offered }
  if (offered.length > 0 && !serve.ignore_client_tools)
    throw unsupported(
      'tools',
      'this server runs its own; start it with --tools client to run them in the client, or with --ignore-client-tools',
    )
  return choice === 'none' && offered.length === 0 ? { tools: [] } : {}
}

/** The result of the tool call that the conversation ends with. */
function resultIn(messages: readonly Message[], serve: ServeSection): CallResult | undefined {
  const last = messages.at(-1)!
  if (last.role !== 'tool') return undefined
  if (serve.tools !== 'client')
    throw new ApiError(400, 'this server runs its tools itself, so no tool call waits for a result', {
      param: 'messages',
    })
  if (last.tool_call_id == null)
    throw new ApiError(400, 'the last message has no tool_call_id', { param: 'messages' })
  return { call: last.tool_call_id, output: textOf(last) }
}

/** Tool calls and their results belong to earlier chains, which are over. */
function earlierTurn(message: Message): EarlierTurn[] {
  const by = message.role === 'user' ? 'User' : message.role === 'assistant' ? 'Assistant' : undefined
  const text = by === undefined ? '' : textOf(message).trim()
  return by === undefined || text === '' ? [] : [{ by, text }]
}

function textOf({ content }: Message): string {
  if (content == null || typeof content === 'string') return content ?? ''
  return content
    .map((part) => {
      if (part.type === 'text' && typeof part['text'] === 'string') return part['text']
      if (part.type === 'refusal') return ''
      throw unsupported('messages', `content of type ${part.type}, because this model reads text`)
    })
    .join('')
}
