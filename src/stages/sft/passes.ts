import {
  type AdamSettings,
  type Engine,
  normalized,
  type OptimResult,
  type TrainingExample,
} from '../../engine/index.ts'
import { type Example, trainingExample } from './examples.ts'

/** Tokens that are given to the engine in one call: what a request to a server may hold, and an answer to Ctrl-C wait. */
const PASS_TOKENS = 32_768

/** Examples in lists of at most so many tokens, in their order; one alone may have more. */
export function* inPasses<T extends { tokens: ArrayLike<number> }>(
  examples: readonly T[],
  most = PASS_TOKENS,
): Generator<T[]> {
  let pass: T[] = []
  let tokens = 0
  for (const example of examples) {
    if (pass.length > 0 && tokens + example.tokens.length > most) {
      yield pass
      pass = []
      tokens = 0
    }
    pass.push(example)
    tokens += example.tokens.length
  }
  if (pass.length > 0) yield pass
}

/** One optimiser step. The loss is the mean over all learned tokens of the step, in however many passes it is made. */
export async function takeStep(
  engine: Pick<Engine, 'forwardBackward' | 'optimStep'>,
  examples: readonly Example[],
  adam: AdamSettings,
  { signal, passTokens }: { signal?: AbortSignal; passTokens?: number } = {},
): Promise<OptimResult & { loss: number }> {
  let sum = 0
  for (const pass of inPasses(normalized(examples.map(trainingExample)), passTokens)) {
    const { loss } = await engine.forwardBackward(pass, { kind: 'cross-entropy' }, signal)
    sum += loss
  }
  return { ...(await engine.optimStep(adam)), loss: sum }
}

/** The mean loss of learned tokens, with nothing learned. */
export async function measureLoss(
  engine: Pick<Engine, 'forward'>,
  examples: readonly Example[],
  signal?: AbortSignal,
): Promise<number> {
  let loss = 0
  let weight = 0
  for (const pass of inPasses(examples.map(trainingExample))) {
    const { logprobs } = await engine.forward(pass, signal)
    for (const [index, { weights }] of pass.entries()) {
      loss += lossOf(logprobs[index]!, weights)
      for (let at = 0; at < weights.length; at++) weight += weights[at]!
    }
  }
  return loss / weight
}

function lossOf(logprobs: Float32Array, weights: TrainingExample['weights']): number {
  let loss = 0
  // Not a product: a token that is not learned must not count even where its log-probability is not a number.
  for (let at = 1; at < logprobs.length; at++) if (weights[at] !== 0) loss -= weights[at]! * logprobs[at]!
  return loss
}
