import type { LanguageModel, wrapLanguageModel } from 'ai'

/** A model of the AI SDK, wrapped. */
export type ObservedModel = ReturnType<typeof wrapLanguageModel>
type CallOptions = Parameters<ObservedModel['doGenerate']>[0]

/** One call of a model, as it went in and came out. */
export interface ModelCall {
  messages: { role: string; content: string }[]
  /** What it thought where the provider tells, and what it wrote; calls of tools are not part of it. */
  reasoning: string
  text: string
  usage: { prompt: number; completion: number }
}

/** An AI SDK model that tells of every call before and after it; generated and streamed alike. */
export async function observeModel(
  model: Exclude<LanguageModel, string>,
  watch: { before: (messages: ModelCall['messages']) => void; after: (call: ModelCall) => void },
): Promise<ObservedModel> {
  const { wrapLanguageModel } = await import('ai')
  const begin = (params: CallOptions): ModelCall => {
    const messages = params.prompt.map(({ role, content }) => ({ role, content: wordsOf(content) }))
    watch.before(messages)
    return { messages, reasoning: '', text: '', usage: { prompt: 0, completion: 0 } }
  }
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      async wrapGenerate({ doGenerate, params }) {
        const call = begin(params)
        const result = await doGenerate()
        for (const part of result.content) {
          if (part.type === 'text') call.text += part.text
          if (part.type === 'reasoning') call.reasoning += part.text
        }
        call.usage = {
          prompt: result.usage.inputTokens.total ?? 0,
          completion: result.usage.outputTokens.total ?? 0,
        }
        watch.after(call)
        return result
      },
      async wrapStream({ doStream, params }) {
        const call = begin(params)
        const result = await doStream()
        type Part = typeof result.stream extends ReadableStream<infer Each> ? Each : never
        const seen = new TransformStream<Part, Part>({
          transform(part, controller) {
            if (part.type === 'text-delta') call.text += part.delta
            if (part.type === 'reasoning-delta') call.reasoning += part.delta
            if (part.type === 'finish') {
              call.usage = {
                prompt: part.usage.inputTokens.total ?? 0,
                completion: part.usage.outputTokens.total ?? 0,
              }
            }
            controller.enqueue(part)
          },
          flush: () => watch.after(call),
        })
        return { ...result, stream: result.stream.pipeThrough(seen) }
      },
    },
  })
}

/** The words of a prompt's message; what is no text is shown as JSON, so that nothing is lost. */
function wordsOf(content: CallOptions['prompt'][number]['content']): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => (part.type === 'text' || part.type === 'reasoning' ? part.text : JSON.stringify(part)))
    .join('\n')
}
