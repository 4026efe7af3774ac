import type { StepListener } from '../../agent/index.ts'
import type { EventStream } from '../event-stream.ts'
import type { Prepared, Reply } from '../service.ts'
import type { Trace } from '../trace.ts'
import { type ServedTokens, sumOf } from '../usage.ts'
import { type ChatChoice, ChoiceWriter } from './chat-choice.ts'
import type { ChatRequest } from './chat-request.ts'

interface Running {
  prepared: Prepared
  request: ChatRequest
  /** Told of the first text. */
  listenerOf: (listener: StepListener) => StepListener
  signal: AbortSignal
  trace: Trace
}

export interface Completed {
  body: Record<string, unknown>
  replies: readonly Reply[]
  finishes: readonly string[]
}

/** Runs a request for chat completions, and streams it if there is a stream. */
export async function completeChat(
  { prepared, request, listenerOf, signal, trace }: Running,
  stream: EventStream | undefined,
): Promise<Completed> {
  const head = {
    id: `chatcmpl-${prepared.id}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  }
  const chunk = (choices: unknown[], rest: object = {}): void =>
    stream?.send({
      ...head,
      object: 'chat.completion.chunk',
      choices,
      ...(request.includeUsage ? { usage: null } : {}),
      ...rest,
    })
  const writers: ChoiceWriter[] = []
  const writerOf = (index: number): ChoiceWriter => {
    writers[index] ??= new ChoiceWriter(request.stop, (delta) =>
      chunk([{ index, delta, logprobs: null, finish_reason: null }]),
    )
    return writers[index]
  }
  const count = 'call' in request.ask ? 1 : request.ask.count
  for (let index = 0; index < count; index++)
    chunk([{ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }])
  const replies = await prepared.run((index) => listenerOf(writerOf(index)), signal, trace)
  const choices = replies.map((reply, index): ChatChoice => writerOf(index).finish(reply))
  const usage = usageOf(sumOf(replies.map(({ tokens }) => tokens)))
  for (const [index, { finish, facts }] of choices.entries())
    chunk([{ index, delta: {}, logprobs: null, finish_reason: finish }], { coa: facts })
  if (request.includeUsage) chunk([], { usage })
  return {
    replies,
    finishes: choices.map(({ finish }) => finish),
    body: {
      ...head,
      object: 'chat.completion',
      choices: choices.map(({ message, finish, facts }, index) => ({
        index,
        message: { ...message, coa: facts },
        logprobs: null,
        finish_reason: finish,
      })),
      usage,
    },
  }
}

/** Tokens as OpenAI counts them: what tools inserted was read by the model, like the prompt. */
function usageOf(tokens: ServedTokens): Record<string, unknown> {
  const read = tokens.prompt + tokens.inserted
  return {
    prompt_tokens: read,
    completion_tokens: tokens.sampled,
    total_tokens: read + tokens.sampled,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
    coa: tokens,
  }
}
