import type { z } from 'zod'
import { CoaError, ModelError } from '../base/errors/index.ts'
import { encodePrompt, TextStream } from '../language/tokens/index.ts'
import {
  type ChatModel,
  type Completion,
  type CompletionRequest,
  messagesOf,
  readObject,
  schemaPrompt,
} from '../world/models/index.ts'
import type { Policy } from './contract.ts'

type Served = Pick<Policy, 'engine' | 'tokenizer' | 'endTokens'>

const DEFAULT_MAX_TOKENS = 1024

/**
 * A chat model over an engine: the chat template of its tokenizer, end tokens and stop texts. Concurrent requests are not limited,
 * because the engine batches them. `open` is called with the first request.
 */
export function engineModel(
  name: string,
  open: () => Promise<Served & { close?: () => Promise<void> }>,
): ChatModel {
  let opening: ReturnType<typeof open> | undefined

  async function sample(request: CompletionRequest, addition?: string): Promise<Completion> {
    opening ??= open()
    const { engine, tokenizer, endTokens } = await opening
    const began = performance.now()
    const prompt = encodePrompt(tokenizer, messagesOf(request, addition))
    const prefix = tokenizer.encodeContinuation(request.prefix ?? '', { specials: 'text' }).ids
    const room = engine.describe().contextLength - prompt.length - prefix.length
    if (room < 1)
      throw new ModelError(
        `the prompt has ${prompt.length + prefix.length} tokens, but the context of ${name} has only ${engine.describe().contextLength}`,
        { fix: 'Use a model with a longer context, or a team that needs fewer steps.' },
      )
    const { maxTokens = DEFAULT_MAX_TOKENS, temperature, seed, stop, signal, onText } = request
    const shown = new TextStream(tokenizer, { continuation: true, skipControlTokens: true })
    const [found] = await engine.sample({
      prompt: Int32Array.from([...prompt, ...prefix]),
      maxTokens: Math.min(maxTokens, room),
      stopTokens: endTokens,
      ...(stop === undefined ? {} : { stopTexts: stop }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(seed === undefined ? {} : { seed }),
      ...(onText === undefined ? {} : { onToken: (token: number) => onText(shown.push(token)) }),
      ...(signal === undefined ? {} : { signal }),
    })
    const { tokens, stopped } = found!
    return {
      text: beforeStop(tokenizer.decode(tokens, { continuation: true, skipControlTokens: true }), stop),
      usage: { prompt: prompt.length + prefix.length, completion: tokens.length },
      finish: stopped === 'length' || stopped === 'context' ? 'length' : 'stop',
      ms: Math.round(performance.now() - began),
      attempts: 1,
    }
  }

  async function complete(
    request: CompletionRequest & { schema?: z.ZodType },
  ): Promise<Completion & { object?: unknown }> {
    try {
      const { schema } = request
      if (schema === undefined) return await sample(request)
      const answer = await sample(request, schemaPrompt(schema))
      return { ...answer, object: readObject(answer.text, schema) }
    } catch (error) {
      request.signal?.throwIfAborted()
      if (!(error instanceof Error) || error instanceof ModelError) throw error
      const fix = CoaError.isInstance(error) ? error.fix : undefined
      throw new ModelError(error.message, { cause: error, ...(fix === undefined ? {} : { fix }) })
    }
  }

  return {
    name,
    continues: true,
    complete: complete as ChatModel['complete'],
    async close() {
      const opened = opening
      opening = undefined
      // An engine that could not be opened has already been reported.
      await opened?.then(
        ({ close }) => close?.(),
        () => {},
      )
    },
  }
}

/** As servers do, the stop text and what the last token added to it are left out. */
function beforeStop(text: string, stop: readonly string[] = []): string {
  const found = stop.map((one) => text.indexOf(one)).filter((at) => at >= 0)
  return found.length === 0 ? text : text.slice(0, Math.min(...found))
}
