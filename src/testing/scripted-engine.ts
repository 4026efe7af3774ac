import type { Engine, Sample, SampleRequest } from '../engine/index.ts'
import type { Tokenizer } from '../language/tokens/index.ts'

export interface ScriptedOptions {
  contextLength?: number
  /** Called with every request before it is answered. */
  onRequest?: (request: SampleRequest) => void | Promise<void>
}

/**
 * An engine that writes what a function returns: `write` receives the text so far, prompt included, and its reply ends at the
 * first stop text, as a model's would.
 *
 * @example
 * import { openWorld, ProjectConfig, rollOut, rolloutSettings, suites } from 'chain-of-agents'
 * import { byteTokenizer, scriptedEngine } from 'chain-of-agents/testing'
 *
 * const [tokenizer, config] = [byteTokenizer(), ProjectConfig.parse({})]
 * const engine = scriptedEngine(tokenizer, () => '<think>Easy.</think><answer>21</answer>')
 * const task = suites.get('math')!.generate({ seed: 1, split: 'test', index: 0 })
 * const job = { task, id: 'rollout-1', groupId: 'group-1', seed: 1 }
 * const policy = { engine, tokenizer, endTokens: [], checkpoint: 'scripted' }
 * const { answer } = await rollOut(job, policy, await openWorld(config), rolloutSettings(config))
 */
export function scriptedEngine(
  tokenizer: Tokenizer,
  write: (soFar: string, request: number) => string,
  { contextLength = 100_000, onRequest }: ScriptedOptions = {},
): Pick<Engine, 'sample' | 'describe'> {
  let requests = 0
  return {
    describe: () => ({
      driver: 'scripted',
      device: 'none',
      contextLength,
      vocabularySize: tokenizer.vocabularySize,
      parameters: 0,
      trainedParameters: 0,
      lossIs: 'sum',
      missing: {},
    }),
    async sample(request) {
      await onRequest?.(request)
      request.signal?.throwIfAborted()
      const text = write(tokenizer.decode(request.prompt), requests++)
      const sample = sampleOf(tokenizer, text, request, contextLength)
      for (const token of sample.tokens) request.onToken?.(token, 0)
      return [sample]
    },
  }
}

function sampleOf(tokenizer: Tokenizer, text: string, request: SampleRequest, contextLength: number): Sample {
  const ids = tokenizer.encodeContinuation(text).ids
  const room = Math.min(request.maxTokens, contextLength - request.prompt.length)
  let count = 0
  let stopped: Sample['stopped'] = 'token'
  while (count < ids.length && stopped === 'token') {
    const written = tokenizer.decode(ids.subarray(0, ++count), { continuation: true })
    if (request.stopTexts?.some((stop) => written.endsWith(stop)) === true) stopped = 'text'
    else if (count >= room) stopped = request.maxTokens <= room ? 'length' : 'context'
  }
  const end = stopped === 'token' && request.stopTokens?.[0] !== undefined ? [request.stopTokens[0]] : []
  const tokens = Int32Array.from([...ids.subarray(0, count), ...end])
  const logprobs = Float32Array.from(tokens, (_, at) => -0.125 * (1 + (at % 7)))
  return { tokens, logprobs, modelLogprobs: logprobs, stopped, reused: 0 }
}
