/** One call of a model, as it went in and came out. */
export interface ModelCall {
  messages: { role: string; content: string }[]
  /** What it thought where the provider tells, and what it wrote; calls of tools are not part of it. */
  reasoning: string
  text: string
  usage: { prompt: number; completion: number }
}

/** The part that all versions of the AI SDK's model interface share; v2 belongs to AI SDK 5, v3 to 6, v4 to 7. */
export interface ObservableModel {
  readonly specificationVersion: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(options: never): PromiseLike<unknown>
}

interface CallOptions {
  prompt: { role: string; content: string | Part[] }[]
}

/** A part of a prompt, of a result or of a stream. */
interface Part {
  type: string
  text?: string
  delta?: string
  usage?: Usage
}

/** Version v2 counts tokens in one number, later ones split them up. */
type Count = number | { total?: number | undefined } | undefined

interface Usage {
  inputTokens?: Count
  outputTokens?: Count
}

/** The versions of the model interface that can be observed. */
export const observableVersions: readonly string[] = ['v2', 'v3', 'v4']

/**
 * The model itself, telling of every call before and after it, generated and streamed alike. Nothing is converted: it has
 * the version it had, so the AI SDK that could use the model can use it still.
 */
export function observeModel<Model extends ObservableModel>(
  model: Model,
  watch: { before: (messages: ModelCall['messages']) => void; after: (call: ModelCall) => void },
): Model {
  const begin = ({ prompt }: CallOptions): ModelCall => {
    const messages = prompt.map(({ role, content }) => ({ role, content: wordsOf(content) }))
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
    call.usage = counted(result.usage)
    watch.after(call)
    return result
  }

  async function doStream(options: CallOptions): Promise<unknown> {
    const call = begin(options)
    const result = (await model.doStream(options as never)) as { stream: ReadableStream<Part> }
    // AI SDK 5 and 6 run a tool as soon as its call comes by. Its parts wait until the model has finished, so that what
    // it wrote is told before what came of it.
    let held: Part[] | undefined
    const finish = (controller: TransformStreamDefaultController<Part>): void => {
      watch.after(call)
      for (const part of held ?? []) controller.enqueue(part)
      held = undefined
    }
    let isFinished = false
    const seen = new TransformStream<Part, Part>({
      transform(part, controller) {
        if (part.type === 'text-delta') call.text += part.delta ?? ''
        if (part.type === 'reasoning-delta') call.reasoning += part.delta ?? ''
        if (part.type === 'tool-call' && !isFinished) held ??= []
        if (part.type === 'finish' && !isFinished) {
          isFinished = true
          if (part.usage !== undefined) call.usage = counted(part.usage)
          finish(controller)
        }
        if (held === undefined) controller.enqueue(part)
        else held.push(part)
      },
      flush(controller) {
        if (!isFinished) finish(controller)
      },
    })
    return { ...result, stream: result.stream.pipeThrough(seen) }
  }

  return new Proxy(model, {
    get(target, name) {
      if (name === 'doGenerate') return doGenerate
      if (name === 'doStream') return doStream
      const value: unknown = Reflect.get(target, name, target)
      // Methods of the model may use private fields, which only the model itself has.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function counted({ inputTokens, outputTokens }: Usage): ModelCall['usage'] {
  const total = (count: Count): number => (typeof count === 'number' ? count : count?.total) ?? 0
  return { prompt: total(inputTokens), completion: total(outputTokens) }
}

/** The words of a prompt's message; what is no text is shown as JSON, so that nothing is lost. */
function wordsOf(content: CallOptions['prompt'][number]['content']): string {
  if (typeof content === 'string') return content
  return content
    .map((part) =>
      (part.type === 'text' || part.type === 'reasoning') && part.text !== undefined
        ? part.text
        : JSON.stringify(part),
    )
    .join('\n')
}
