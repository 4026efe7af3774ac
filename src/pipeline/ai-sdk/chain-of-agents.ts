import { randomUUID } from 'node:crypto'
import { tokensByAgent } from '../../agent/index.ts'
import {
  type ChainModel,
  type ModelOptions,
  type OpenedModel,
  openModelFor,
  type QuestionOptions,
  type Solved,
  solveInto,
} from '../solve/index.ts'
import type { ChainOfAgentsModel, ModelCall, ModelPart, ModelResult } from './language-model.ts'
import { readCall } from './read-call.ts'
import { contentOf, PROVIDER, StreamParts } from './stream-parts.ts'

export interface ChainOfAgentsOptions
  extends ModelOptions,
    Pick<QuestionOptions, 'maxTurns' | 'constrained' | 'bestOf' | 'pick'> {}

/**
 * A chain-of-agents model for `generateText` and `streamText` of the AI SDK (`ai` 6 and 7), in this process. Roles are reasoning,
 * tool calls are executed here and come with their results, and the answer is the text. It is opened with the first request; close
 * it when you are done.
 *
 * @example
 * import { chainOfAgents } from 'chain-of-agents'
 *
 * const model = chainOfAgents('nano', { grammar: 'math' })
 * // const { text, reasoning, toolResults } = await generateText({ model, prompt: 'What is 17 * 144?' })
 * await model.close()
 */
export function chainOfAgents(
  model: string | OpenedModel,
  options: ChainOfAgentsOptions = {},
): ChainOfAgentsModel {
  const modelId = typeof model === 'string' ? model : (model.checkpoint ?? model.folder ?? 'model')
  const { maxTurns, constrained, bestOf, pick } = options
  let opening: Promise<ChainModel> | undefined
  const open = (): Promise<ChainModel> => {
    opening ??= openModelFor(model, options).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  async function answer(call: ModelCall, onPart: (part: ModelPart) => void) {
    const { question, options: own, warnings } = readCall(call)
    own.signal?.throwIfAborted()
    const id = randomUUID()
    const parts = new StreamParts(id)
    const response = { id, timestamp: new Date(), modelId }
    onPart({ type: 'stream-start', warnings })
    onPart({ type: 'response-metadata', ...response })
    const solved = await solveInto(
      await open(),
      question,
      { ...own, maxTurns, constrained, bestOf, pick },
      (event) => parts.of(event).forEach(onPart),
    )
    parts.end().forEach(onPart)
    const finish = finishOf(solved)
    onPart({ type: 'finish', ...finish })
    return { ...finish, warnings, response }
  }

  return {
    specificationVersion: 'v3',
    provider: 'chain-of-agents',
    modelId,
    supportedUrls: {},
    async doGenerate(call) {
      const parts: ModelPart[] = []
      const result = await answer(call, (part) => parts.push(part))
      return { content: contentOf(parts), ...result }
    },
    async doStream(call) {
      const stop = new AbortController()
      const { abortSignal } = call
      const signal = abortSignal === undefined ? stop.signal : AbortSignal.any([abortSignal, stop.signal])
      // Whatever is wrong with the call is an error of the call, not of its stream.
      readCall(call)
      await open()
      const stream = new ReadableStream<ModelPart>({
        start(out) {
          const emit = (part: ModelPart): void => {
            if (!stop.signal.aborted) out.enqueue(part)
          }
          answer({ ...call, abortSignal: signal }, emit).then(
            () => stop.signal.aborted || out.close(),
            (error: unknown) => stop.signal.aborted || out.error(error),
          )
        },
        cancel: () => stop.abort(),
      })
      return { stream }
    },
    async close() {
      const opened = opening
      opening = undefined
      // A model that could not be opened has already been reported.
      await opened?.then(
        (found) => found.close(),
        () => {},
      )
    },
  }
}

/** Why it ended, and what it cost. Input tokens are counted once; what was billed is in the metadata. */
function finishOf(solved: Solved): Pick<ModelResult, 'finishReason' | 'usage' | 'providerMetadata'> {
  const { rollouts, tokens, stop, seed, pick } = solved
  const { prompt, completion, tool, once, billed, requests } = tokens
  const text = rollouts.reduce((sum, rollout) => sum + (tokensByAgent(rollout)[answerAgent(rollout)] ?? 0), 0)
  const input = prompt + tool
  const counts = { prompt, completion, tool, once, billed, requests }
  return {
    finishReason: { unified: stop === 'answer' || stop === 'end' ? 'stop' : 'length', raw: stop },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: completion, text, reasoning: completion - text },
      raw: counts,
    },
    providerMetadata: {
      [PROVIDER]: {
        stop,
        seed,
        tokens: counts,
        ...(pick === undefined ? {} : { pick: { ...pick, chosen: pick.chosen ?? null } }),
      },
    },
  }
}

function answerAgent({ spans }: Solved['rollouts'][number]): string {
  return spans.find(({ kind }) => kind === 'answer')?.agent ?? ''
}
