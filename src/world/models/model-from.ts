import type { FinishReason, LanguageModel, LanguageModelUsage, streamText } from 'ai'
import type { z } from 'zod'
import type { Message } from '../../schema/index.ts'
import type { ChatModel, Completion, CompletionPrompt, CompletionRequest, Patience } from './contract.ts'
import { refusesSchema } from './failure.ts'
import { patiently } from './retry.ts'
import { readObject, schemaInWords } from './structured.ts'

export interface ModelFromOptions extends Patience {
  /** Named in errors. */
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

/** The same with a model that is made at the first call, and the SDK loaded only then. */
export function lazyModel(
  name: string,
  languageModel: () => Promise<LanguageModel>,
  options: ModelFromOptions = {},
): ChatModel {
  const { baseUrl, hasKey = true, ...patience } = options
  const run = patiently({ model: name, hasKey, ...(baseUrl === undefined ? {} : { baseUrl }) }, patience)
  /** False once the server has shown that it cannot hold an answer to a schema: then words must do. */
  let holdsToSchema = true

  async function ask(
    request: CompletionRequest,
    signal: AbortSignal,
    schema: z.ZodType | undefined,
    inWords: boolean,
  ): Promise<Omit<Completion, 'ms' | 'attempts'>> {
    const messages = messagesOf(request, schema !== undefined && inWords ? schemaInWords(schema) : undefined)
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
      ...(schema === undefined || inWords ? {} : { output: await unparsed(schema) }),
    }
    const { generateText, streamText } = await import('ai')
    const { text, usage, finishReason } =
      request.onText === undefined
        ? await generateText(settings)
        : await streamed(streamText({ ...settings, onError: () => {} }), request.onText)
    return {
      text,
      usage: { prompt: usage.inputTokens ?? 0, completion: usage.outputTokens ?? 0 },
      finish: finishes[finishReason] ?? 'other',
    }
  }

  async function complete(
    request: CompletionRequest & { schema?: z.ZodType },
  ): Promise<Completion & { object?: unknown }> {
    const { schema } = request
    let started: number | undefined
    let inWords = false
    return run(async (signal, attempt) => {
      started ??= performance.now()
      const answer = await ask(request, signal, schema, inWords || !holdsToSchema).catch((error: unknown) => {
        if (schema === undefined || !holdsToSchema || !refusesSchema(error)) throw error
        holdsToSchema = false
        return ask(request, signal, schema, true)
      })
      const measured = { ms: Math.round(performance.now() - started), attempts: attempt + 1 }
      if (schema === undefined) return { ...answer, ...measured }
      // Some servers take a schema and ignore it: the second attempt says it in words.
      inWords = true
      return { ...answer, ...measured, object: readObject(answer.text, schema) }
    }, request.signal)
  }

  return { name, complete: complete as ChatModel['complete'] }
}

/** A stream to its end. One that breaks off is a failure, however much of it had come. */
async function streamed(
  result: Pick<ReturnType<typeof streamText>, 'fullStream' | 'usage' | 'finishReason'>,
  onText: (piece: string) => void,
): Promise<{ text: string; usage: LanguageModelUsage; finishReason: FinishReason }> {
  let text = ''
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type !== 'text-delta') continue
    text += part.text
    onText(part.text)
  }
  return { text, usage: await result.usage, finishReason: await result.finishReason }
}

/** The SDK's request for an object, but the text is read by us, with more patience. */
async function unparsed(schema: z.ZodType) {
  const { Output } = await import('ai')
  return {
    ...Output.object<unknown>({ schema }),
    parseCompleteOutput: async ({ text }: { text: string }) => text,
  }
}

function messagesOf(request: CompletionPrompt, addition: string | undefined): Message[] {
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
