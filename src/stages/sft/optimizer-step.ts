import {
  type AdamSettings,
  type Engine,
  normalized,
  type OptimResult,
  type TrainingExample,
} from '../../engine/contract.ts'
import { type Example, trainingExample } from './gather.ts'

/** Tokens per engine call: limits the size of a request to a server, and how long Ctrl-C waits. */
const MICRO_BATCH_TOKENS = 32_768

/** Splits examples into micro-batches of at most `most` tokens, in order; a single example may exceed it. */
export function* microBatches<T extends { tokens: ArrayLike<number> }>(
  examples: readonly T[],
  most = MICRO_BATCH_TOKENS,
): Generator<T[]> {
  let batch: T[] = []
  let tokens = 0
  for (const example of examples) {
    if (batch.length > 0 && tokens + example.tokens.length > most) {
      yield batch
      batch = []
      tokens = 0
    }
    batch.push(example)
    tokens += example.tokens.length
  }
  if (batch.length > 0) yield batch
}

/** One optimizer step. The loss is the mean over all trained tokens of the step, in however many micro-batches. */
export async function takeStep(
  engine: Pick<Engine, 'forwardBackward' | 'optimStep'>,
  examples: readonly Example[],
  adam: AdamSettings,
  { signal, microBatchTokens }: { signal?: AbortSignal; microBatchTokens?: number } = {},
): Promise<OptimResult & { loss: number }> {
  let sum = 0
  for (const batch of microBatches(normalized(examples.map(trainingExample)), microBatchTokens)) {
    const { loss } = await engine.forwardBackward(batch, { kind: 'cross-entropy' }, signal)
    sum += loss
  }
  return { ...(await engine.optimStep(adam)), loss: sum }
}

/** The mean loss of the trained tokens, without training. */
export async function measureLoss(
  engine: Pick<Engine, 'forward'>,
  examples: readonly Example[],
  signal?: AbortSignal,
): Promise<number> {
  let loss = 0
  let weight = 0
  for (const batch of microBatches(examples.map(trainingExample))) {
    const { logprobs } = await engine.forward(batch, signal)
    for (const [index, { weights }] of batch.entries()) {
      loss += lossOf(logprobs[index]!, weights)
      for (let at = 0; at < weights.length; at++) weight += weights[at]!
    }
  }
  return loss / weight
}

function lossOf(logprobs: Float32Array, weights: TrainingExample['weights']): number {
  let loss = 0
  // Not multiplied: a masked token must not count even if its log-probability is NaN.
  for (let at = 1; at < logprobs.length; at++) if (weights[at] !== 0) loss -= weights[at]! * logprobs[at]!
  return loss
}
