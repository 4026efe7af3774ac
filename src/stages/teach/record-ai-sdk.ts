import { toolName } from '../../logs/index.ts'
import { type ObservableModel, observableVersions, observeModel } from '../../world/models/index.ts'
import { NotRecordable, type Recorder } from './recorder.ts'

/** Agents with rules of their own speak in any order. A project's own grammar takes its place. */
const OPEN = 'open'

/** The part of an AI SDK tool that matters here. */
interface ExecutableTool {
  /** May be a function of the context, of which nothing is known here. */
  description?: unknown
  execute?: ((input: never, options: never) => unknown) | undefined
}

/**
 * Records agents written with the AI SDK 5, 6 or 7: wrap each agent's model and tools, and every call becomes an event. You
 * choose the agent's name; `cause` is the event that started its work, by default the last one recorded. The trajectory says which tools
 * the agents had, so that the run need not declare them, and belongs to the grammar `open` unless its `meta.domain` names another.
 *
 * @example
 * import { type ObservableModel, recordAiSdk, recordRun } from 'chain-of-agents'
 *
 * declare const sdkModel: ObservableModel
 * const head = { id: 'run-1', taskId: 'sum', team: 'mine', question: 'What is 17 + 4?' }
 * const trajectory = await recordRun(head, async (recorder) => {
 *   const { model, answered } = recordAiSdk(recorder, 'assistant')
 *   const recorded = model(sdkModel) // pass this to generateText or ToolLoopAgent
 *   return answered('21')
 * })
 */
export function recordAiSdk(recorder: Recorder, agent: string, cause?: string) {
  let last = cause ?? recorder.events.at(-1)?.id ?? null
  recorder.domain = OPEN
  return {
    /** Wraps a model to record every prompt and response. */
    model: <Model extends ObservableModel>(model: Model): Model =>
      observeModel(recordable(model), {
        before: (messages) => {
          last = recorder.add({ type: 'activated', agent, parent: last, messages })
        },
        after: ({ reasoning, text, usage }) => {
          last = recorder.add({
            type: 'wrote',
            agent,
            parent: last,
            text,
            ...(reasoning === '' ? {} : { thought: reasoning }),
            usage: { promptTokens: usage.prompt, completionTokens: usage.completion },
          })
        },
      }),
    /** Wraps tools to record every call and its result. */
    tools: <Tools extends Record<string, ExecutableTool>>(tools: Tools): Tools =>
      Object.fromEntries(
        Object.entries(tools).map(([name, tool]) => [name, recordedTool(name, tool)]),
      ) as Tools,
    /** Records the agent's final answer. */
    answered: (text: string): string => recorder.add({ type: 'answered', agent, parent: last, text }),
  }

  function recordedTool(given: string, tool: ExecutableTool): ExecutableTool {
    const { execute, description } = tool
    if (execute === undefined) return tool
    const name = toolName(given)
    const says = typeof description === 'string' && description !== '' ? description : `Call ${given}.`
    recorder.tools.set(name, { v: 1, id: name, description: says, payload: { syntax: 'json' } })
    return {
      ...tool,
      execute(input: never, options: never): unknown {
        const called = recorder.add({
          type: 'tool-called',
          agent,
          parent: last,
          tool: name,
          input: plain(input),
        })
        const answer = (output: string, ok: boolean): void => {
          last = recorder.add({ type: 'tool-answered', agent, parent: called, tool: name, output, ok })
        }
        const fail = (error: unknown): never => {
          answer(error instanceof Error ? error.message : String(error), false)
          throw error
        }
        const succeed = <Output>(output: Output): Output => {
          answer(typeof output === 'string' ? output : (JSON.stringify(output) ?? ''), true)
          return output
        }
        let output: unknown
        try {
          output = execute(input, options)
        } catch (error) {
          return fail(error)
        }
        // The SDK recognizes a tool with preliminary results by its return value, so do not await it first.
        return isAsyncIterable(output)
          ? lastRecorded(output, succeed, fail)
          : Promise.resolve(output).then(succeed, fail)
      },
    }
  }
}

/** Yields every preliminary result; the last one is recorded as the output. */
async function* lastRecorded(
  outputs: AsyncIterable<unknown>,
  succeed: (output: unknown) => unknown,
  fail: (error: unknown) => never,
): AsyncGenerator<unknown> {
  let last: unknown
  try {
    for await (const output of outputs) {
      last = output
      yield output
    }
  } catch (error) {
    fail(error)
  }
  succeed(last)
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Checked before the agent starts: later, each call would fail with an error that does not point here. */
function recordable<Model extends ObservableModel>(model: Model): Model {
  if (typeof model !== 'object' || model === null)
    throw new NotRecordable(`${JSON.stringify(model)} is not a model of the AI SDK`, {
      fix: "Pass the model object of a provider, such as openai('gpt-5') or gateway('openai/gpt-5').",
    })
  const { specificationVersion: version, modelId } = model
  if (observableVersions.includes(version) && typeof model.doGenerate === 'function') return model
  throw new NotRecordable(
    `the model ${modelId ?? '(no name)'} has version ${version ?? '(none)'} of the AI SDK's model interface`,
    {
      fix: 'Models of AI SDK 5, 6 and 7 (versions v2, v3 and v4) can be recorded: use a provider package made for one of them.',
    },
  )
}

function plain(value: unknown) {
  return JSON.parse(JSON.stringify(value ?? null))
}
