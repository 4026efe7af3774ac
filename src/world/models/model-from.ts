import type { FinishReason, LanguageModel, LanguageModelUsage, streamText } from 'ai'
import type { z } from 'zod'
import type { Message } from '../../schema/index.ts'
import type { ChatModel, Completion, CompletionPrompt, CompletionRequest, RetryPolicy } from './contract.ts'
import { refusesSchema } from './failure.ts'
import { createRequestRunner } from './retry.ts'
import { readObject, schemaPrompt } from './structured.ts'

export interface ModelFromOptions extends RetryPolicy {
  /** Shown in error messages. */
  baseUrl?: string
  hasKey?: boolean
}

const finishes: Partial<Record<FinishReason, Completion['finish']>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'filtered',
}

/**
 * A chat model over any language model of the AI SDK.
 *
 * @example
 * import { modelFrom } from 'chain-of-agents'
 *
 * const model = modelFrom('openai/gpt-5', { retries: 2, concurrency: 4 })
 * const { text } = await model.complete({ system: 'Answer in one word.', prompt: 'Capital of Peru?' })
 */
export function modelFrom(languageModel: LanguageModel, options: ModelFromOptions = {}): ChatModel {
  const name = typeof languageModel === 'string' ? languageModel : languageModel.modelId
  return lazyModel(name, async () => languageModel, options)
}

/** The same for a model that is created, and the SDK loaded, at the first call. */
export function lazyModel(
  name: string,
  languageModel: () => Promise<LanguageModel>,
  options: ModelFromOptions = {},
): ChatModel {
  const { baseUrl, hasKey = true, ...policy } = options
  const run = createRequestRunner(
    { model: name, hasKey, ...(baseUrl === undefined ? {} : { baseUrl }) },
    policy,
  )
  /** False once the server has rejected a schema; from then on the schema is described in the prompt. */
  let supportsSchema = true

  async function ask(
    request: CompletionRequest,
    signal: AbortSignal,
    schema: z.ZodType | undefined,
    inPrompt: boolean,
  ): Promise<Omit<Completion, 'ms' | 'attempts'>> {
    const messages = messagesOf(request, schema !== undefined && inPrompt ? schemaPrompt(schema) : undefined)
    const settings = {
      model: await languageModel(),
      messages,
      allowSystemInMessages: true,
      abortSignal: signal,
      maxRetries: 0,
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      ...(request.maxTokens === undefined ? {} : { maxOutputTokens: request.maxTokens }),
      ...(request.seed === undefined ? {} : { seed: request.seed }),
      ...(request.stop === undefined ? {} : { stopSequences: [...request.stop] }),
      ...(schema === undefined || inPrompt ? {} : { output: await unparsed(schema) }),
    }
    const { generateText, streamText } = await import('ai')
    const { text, reasoningText, usage, finishReason } =
      request.onText === undefined
        ? await generateText(settings)
        : await streamed(streamText({ ...settings, onError: () => {} }), request.onText)
    return {
      text,
      ...(reasoningText === undefined || reasoningText === '' ? {} : { reasoning: reasoningText }),
      usage: { prompt: usage.inputTokens ?? 0, completion: usage.outputTokens ?? 0 },
      finish: finishes[finishReason] ?? 'other',
    }
  }

  async function complete(
    request: CompletionRequest & { schema?: z.ZodType },
  ): Promise<Completion & { object?: unknown }> {
    const { schema } = request
    let started: number | undefined
    let inPrompt = false
    return run(async (signal, attempt) => {
      started ??= performance.now()
      const answer = await ask(request, signal, schema, inPrompt || !supportsSchema).catch(
        (error: unknown) => {
          if (schema === undefined || !supportsSchema || !refusesSchema(error)) throw error
          supportsSchema = false
          return ask(request, signal, schema, true)
        },
      )
      const measured = { ms: Math.round(performance.now() - started), attempts: attempt + 1 }
      if (schema === undefined) return { ...answer, ...measured }
      // Some servers accept a schema and ignore it, so the second attempt describes it in the prompt.
      inPrompt = true
      return { ...answer, ...measured, object: readObject(answer.text, schema) }
    }, request.signal)
  }

  return { name, complete: complete as ChatModel['complete'] }
}

/** Reads a stream to its end. An interrupted stream is a failure, no matter how much text arrived. */
async function streamed(
  result: Pick<ReturnType<typeof streamText>, 'fullStream' | 'usage' | 'finishReason'>,
  onText: (piece: string) => void,
): Promise<{
  text: string
  reasoningText: string
  usage: LanguageModelUsage
  finishReason: FinishReason
}> {
  let text = ''
  let reasoningText = ''
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'reasoning-delta') reasoningText += part.text
    if (part.type !== 'text-delta') continue
    text += part.text
    onText(part.text)
  }
  return { text, reasoningText, usage: await result.usage, finishReason: await result.finishReason }
}

/** Requests structured output through the SDK, but leaves parsing to our more lenient parser. */
async function unparsed(schema: z.ZodType) {
  const { Output } = await import('ai')
  return {
    ...Output.object<unknown>({ schema }),
    parseCompleteOutput: async ({ text }: { text: string }) => text,
  }
}

/** The messages of a request, with an addition to the system prompt. */
export function messagesOf(request: CompletionPrompt, addition: string | undefined): Message[] {
  const messages: Message[] =
    'messages' in request
      ? [...request.messages]
      : [
          ...(request.system === undefined ? [] : [{ role: 'system' as const, content: request.system }]),
          { role: 'user', content: request.prompt },
        ]
  if (addition === undefined) return messages
  const [first, ...rest] = messages
  return first?.role === 'system'
    ? [{ role: 'system', content: `${first.content}\n\n${addition}` }, ...rest]
    : [{ role: 'system', content: addition }, ...messages]
}
