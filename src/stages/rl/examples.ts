import { EngineError } from '../../base/errors/index.ts'
import type { TrainingExample } from '../../engine/index.ts'
import type { Rollout, RolloutSegment } from '../../schema/index.ts'

/** An example of the engine's contract with all its columns. */
export interface PolicyExample extends Required<TrainingExample> {
  tokens: Int32Array
  weights: Float32Array
  sampledLogprobs: Float32Array
  oldLogprobs: Float32Array
  advantages: Float32Array
}

/**
 * What is trained of a rollout: the sampled tokens and nothing else, each under the context it was sampled in. Where an
 * observation was shortened on the way, what was sampled before and after saw different contexts, so there is an
 * example for each; in the later ones the earlier words are context.
 */
export function examplesOf(
  rollout: Pick<Rollout, 'id' | 'segments'>,
  advantage: number,
  /** Sampled under a mask: the model's own log-probabilities are then told beside those of the sampler. */
  isMasked = false,
): PolicyExample[] {
  const { segments } = rollout
  if (segments[0]?.origin !== 'prompt' || segments[0].tokens.length === 0)
    throw new EngineError(`rollout ${rollout.id} does not begin with a prompt`, {
      fix: 'The first token of an example cannot be learned: put at least one token before what was sampled.',
    })
  return runsOfOneContext(segments).map((run) => exampleOf(segments, run, advantage, isMasked))
}

/** Indexes of sampled segments, together where the model saw the same of what came before. */
function runsOfOneContext(segments: readonly RolloutSegment[]): number[][] {
  const changes = new Set(
    segments.flatMap((segment) =>
      segment.origin === 'inserted' && segment.shortened !== undefined ? [segment.shortened.from] : [],
    ),
  )
  const runs: number[][] = []
  let isNew = true
  for (const [index, { origin, tokens }] of segments.entries()) {
    isNew ||= changes.has(index)
    if (origin !== 'sampled' || tokens.length === 0) continue
    if (isNew) runs.push([])
    runs.at(-1)!.push(index)
    isNew = false
  }
  return runs
}

function exampleOf(
  segments: readonly RolloutSegment[],
  run: readonly number[],
  advantage: number,
  isMasked: boolean,
): PolicyExample {
  const last = run.at(-1)!
  const parts = segments.slice(0, last + 1).map((segment) => seenAt(segment, last))
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
    const segment = segments[index]!
    if (segment.origin === 'sampled' && run.includes(index)) {
      weights.fill(1, at, at + part.length)
      advantages.fill(advantage, at, at + part.length)
      sampled.set(segment.logprobs, at)
      old.set((isMasked ? segment.modelLogprobs : undefined) ?? segment.logprobs, at)
    }
    at += part.length
  }
  return { tokens, weights, sampledLogprobs: sampled, oldLogprobs: old, advantages }
}

/** The tokens of a segment as the model saw them when it sampled segment `when`. */
function seenAt(segment: RolloutSegment, when: number): readonly number[] {
  const shortened = segment.origin === 'inserted' ? segment.shortened : undefined
  return shortened !== undefined && shortened.from <= when ? shortened.tokens : segment.tokens
}
