import type { z } from 'zod'
import { ModelError } from '../base/errors/index.ts'
import type { ChatModel, Completion, CompletionRequest } from '../world/models/index.ts'

export interface ScriptedModel extends ChatModel {
  /** Every request, in order. */
  readonly requests: CompletionRequest[]
}

/**
 * A chat model that answers from a list or a function, in this process. When a list is used up, its last reply repeats. Where a
 * request has a schema, the reply must be JSON. Token counts are word counts, so that they are the same everywhere.
 *
 * @example
 * import { scriptedModel } from 'chain-of-agents/testing'
 *
 * const model = scriptedModel(['Lima is in Peru.', 'I do not know.'])
 * const { text } = await model.complete({ prompt: 'Where is Lima?' })
 * console.log(text, model.requests.length) // Lima is in Peru. 1
 */
export function scriptedModel(
  replies: readonly string[] | ((request: CompletionRequest, index: number) => string | Promise<string>),
): ScriptedModel {
  const requests: CompletionRequest[] = []
  const complete = async (
    request: CompletionRequest & { schema?: z.ZodType },
  ): Promise<Completion & { object?: unknown }> => {
    request.signal?.throwIfAborted()
    const index = requests.push(request) - 1
    const text =
      typeof replies === 'function' ? await replies(request, index) : (replies[index] ?? replies.at(-1))
    if (text === undefined) throw new ModelError('no reply is scripted')
    request.onText?.(text)
    const object = request.schema === undefined ? {} : { object: request.schema.parse(JSON.parse(text)) }
    return { text, usage: usageOf(request, text), finish: 'stop', ms: 0, attempts: 1, ...object }
  }
  return { name: 'scripted', requests, complete: complete as ChatModel['complete'] }
}

function usageOf(request: CompletionRequest, text: string): Completion['usage'] {
  const prompt =
    'messages' in request
      ? request.messages.map(({ content }) => content).join(' ')
      : `${request.system ?? ''} ${request.prompt}`
  return { prompt: countWords(prompt), completion: countWords(text) }
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}
