import { tokensAt } from '../../agent/index.ts'
import { EngineError } from '../../base/errors/index.ts'
import type { TrainingExample } from '../../engine/index.ts'
import { isTrained, type Rollout, type Span } from '../../schema/index.ts'

/** A training example with all columns. */
export interface PolicyExample extends Required<TrainingExample> {
  tokens: Int32Array
  weights: Float32Array
  sampledLogprobs: Float32Array
  oldLogprobs: Float32Array
  advantages: Float32Array
}

/**
 * Training examples of a rollout: only sampled tokens are trained, each in the context it was sampled in. If an
 * observation was shortened, the tokens before and after saw different contexts, so there is one example for each; in
 * the later ones the earlier tokens are context.
 */
export function examplesOf(
  rollout: Pick<Rollout, 'id' | 'promptTokens' | 'spans'>,
  advantage: number,
  /** Sampled under a grammar mask: the model's own log-probabilities are recorded as well. */
  isMasked = false,
): PolicyExample[] {
  const { id, promptTokens = [], spans } = rollout
  if (promptTokens.length === 0)
    throw new EngineError(`rollout ${id} does not begin with a prompt`, {
      fix: 'The first token of an example cannot be trained on: put at least one token before the sampled ones.',
    })
  if (spans.some((span) => span.tokens === undefined || (isTrained(span) && span.logprobs === undefined)))
    throw new EngineError(`rollout ${id} was stored without its tokens`, {
      fix: 'Train on rollouts as they were sampled; rl.keep_rollouts decides how many are stored with tokens.',
    })
  return spansByContext(spans).map((run) => exampleOf(promptTokens, spans, run, advantage, isMasked))
}

/** Indexes of sampled spans, grouped by the context that the model saw. */
function spansByContext(spans: readonly Span[]): number[][] {
  const changes = spans.flatMap(({ shortened }) => (shortened === undefined ? [] : [shortened.request]))
  const runs: { index: number[]; changed: number }[] = []
  for (const [index, { origin, tokens = [] }] of spans.entries()) {
    if (!('request' in origin) || tokens.length === 0) continue
    const changed = changes.filter((request) => request <= origin.request).length
    if (runs.at(-1)?.changed === changed) runs.at(-1)!.index.push(index)
    else runs.push({ index: [index], changed })
  }
  return runs.map(({ index }) => index)
}

function exampleOf(
  prompt: readonly number[],
  spans: readonly Span[],
  run: readonly number[],
  advantage: number,
  isMasked: boolean,
): PolicyExample {
  const last = run.at(-1)!
  const { request } = spans[last]!.origin as { request: number }
  const parts = [prompt, ...spans.slice(0, last + 1).map((span) => tokensAt(span, request))]
  const length = parts.reduce((sum, { length: size }) => sum + size, 0)
  const tokens = new Int32Array(length)
  const [weights, sampled, old, advantages] = [0, 1, 2, 3].map(() => new Float32Array(length)) as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ]
  let at = 0
  for (const [index, part] of parts.entries()) {
    tokens.set(part, at)
    const { logprobs, modelLogprobs } = spans[index - 1] ?? {}
    if (logprobs !== undefined && run.includes(index - 1)) {
      weights.fill(1, at, at + part.length)
      advantages.fill(advantage, at, at + part.length)
      sampled.set(logprobs, at)
      old.set((isMasked ? modelLogprobs : undefined) ?? logprobs, at)
    }
    at += part.length
  }
  return { tokens, weights, sampledLogprobs: sampled, oldLogprobs: old, advantages }
}
