import { type ObservedModel, observeModel } from '../models/index.ts'
import type { Recorder } from './recorder.ts'

/** What a tool of the AI SDK looks like from here: something that may be executed. */
interface ExecutableTool {
  execute?: ((input: never, options: never) => unknown) | undefined
}

/**
 * Records agents written with the AI SDK: wrap the model and the tools of each agent, and every call becomes events.
 * The one who wraps gives the agent its name; the event that caused its work is `cause`, or the last one recorded.
 */
export function recordAiSdk(recorder: Recorder, agent: string, cause?: string) {
  let last = cause ?? recorder.events.at(-1)?.id ?? null
  return {
    /** The model, telling the recorder of every prompt and answer. */
    model: (model: Parameters<typeof observeModel>[0]): Promise<ObservedModel> =>
      observeModel(model, {
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
    /** The tools, telling the recorder of every call and what came of it. */
    tools: <Tools extends Record<string, ExecutableTool>>(tools: Tools): Tools =>
      Object.fromEntries(
        Object.entries(tools).map(([name, tool]) => [name, recordedTool(name, tool)]),
      ) as Tools,
    /** Says that the agent's work led to this answer. */
    answered: (text: string): string => recorder.add({ type: 'answered', agent, parent: last, text }),
  }

  function recordedTool(name: string, tool: ExecutableTool): ExecutableTool {
    const { execute } = tool
    if (execute === undefined) return tool
    return {
      ...tool,
      async execute(input: never, options: never) {
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
        try {
          const output = await execute(input, options)
          answer(typeof output === 'string' ? output : JSON.stringify(output), true)
          return output
        } catch (error) {
          answer(error instanceof Error ? error.message : String(error), false)
          throw error
        }
      },
    }
  }
}

function plain(value: unknown) {
  return JSON.parse(JSON.stringify(value ?? null))
}
