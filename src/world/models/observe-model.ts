/** One model call: the prompt and the response. */
export interface ModelCall {
  messages: { role: string; content: string }[]
  /** The reasoning, where the provider returns it, and the text; tool calls are not included. */
  reasoning: string
  text: string
  usage: { prompt: number; completion: number }
}

/** The part shared by all versions of the AI SDK's model interface: v2 is AI SDK 5, v3 is 6, v4 is 7. */
export interface ObservableModel {
  readonly specificationVersion: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(options: never): PromiseLike<unknown>
}

interface CallOptions {
  prompt: { role: string; content: string | Part[] }[]
}

/** A part of a prompt, a result or a stream. */
interface Part {
  type: string
  text?: string
  delta?: string
  usage?: Usage
}

/** Version v2 reports one number; later versions break it down. */
type Count = number | { total?: number | undefined } | undefined

interface Usage {
  inputTokens?: Count
  outputTokens?: Count
}

/** The versions of the model interface that can be observed. */
export const observableVersions: readonly string[] = ['v2', 'v3', 'v4']

/**
 * Wraps a model so that every call, generated or streamed, is reported before and after. The interface version is
 * unchanged, so the result works with the same AI SDK as the original.
 */
export function observeModel<Model extends ObservableModel>(
  model: Model,
  watch: { before: (messages: ModelCall['messages']) => void; after: (call: ModelCall) => void },
): Model {
  const begin = ({ prompt }: CallOptions): ModelCall => {
    const messages = prompt.map(({ role, content }) => ({ role, content: contentText(content) }))
    watch.before(messages)
    return { messages, reasoning: '', text: '', usage: { prompt: 0, completion: 0 } }
  }

  async function doGenerate(options: CallOptions): Promise<unknown> {
    const call = begin(options)
    const result = (await model.doGenerate(options as never)) as { content: Part[]; usage: Usage }
    for (const part of result.content) {
      if (part.type === 'text') call.text += part.text ?? ''
      if (part.type === 'reasoning') call.reasoning += part.text ?? ''
    }
    call.usage = tokenCounts(result.usage)
    watch.after(call)
    return result
  }

  async function doStream(options: CallOptions): Promise<unknown> {
    const call = begin(options)
    const result = (await model.doStream(options as never)) as { stream: ReadableStream<Part> }
    // AI SDK 5 and 6 run a tool as soon as its call appears in the stream. Such parts are held back until the model
    // has finished, so that its text is reported before the tool's result.
    let held: Part[] | undefined
    const finish = (controller: TransformStreamDefaultController<Part>): void => {
      watch.after(call)
      for (const part of held ?? []) controller.enqueue(part)
      held = undefined
    }
    let isFinished = false
    const observed = new TransformStream<Part, Part>({
      transform(part, controller) {
        if (part.type === 'text-delta') call.text += part.delta ?? ''
        if (part.type === 'reasoning-delta') call.reasoning += part.delta ?? ''
        if (part.type === 'tool-call' && !isFinished) held ??= []
        if (part.type === 'finish' && !isFinished) {
          isFinished = true
          if (part.usage !== undefined) call.usage = tokenCounts(part.usage)
          finish(controller)
        }
        if (held === undefined) controller.enqueue(part)
        else held.push(part)
      },
      flush(controller) {
        if (!isFinished) finish(controller)
      },
    })
    return { ...result, stream: result.stream.pipeThrough(observed) }
  }

  return new Proxy(model, {
    get(target, name) {
      if (name === 'doGenerate') return doGenerate
      if (name === 'doStream') return doStream
      const value: unknown = Reflect.get(target, name, target)
      // Methods of the model may use private fields, which only the original object has.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function tokenCounts({ inputTokens, outputTokens }: Usage): ModelCall['usage'] {
  const total = (count: Count): number => (typeof count === 'number' ? count : count?.total) ?? 0
  return { prompt: total(inputTokens), completion: total(outputTokens) }
}

/** The text of a prompt message; non-text parts are shown as JSON so that nothing is lost. */
function contentText(content: CallOptions['prompt'][number]['content']): string {
  if (typeof content === 'string') return content
  return content
    .map((part) =>
      (part.type === 'text' || part.type === 'reasoning') && part.text !== undefined
        ? part.text
        : JSON.stringify(part),
    )
    .join('\n')
}
