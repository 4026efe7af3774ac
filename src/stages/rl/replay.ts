import { ConfigError } from '../../base/errors/index.ts'
import { seedOf } from '../../base/random/index.ts'
import { divided, normalized, type TrainingExample } from '../../engine/contract.ts'
import { encodeStream, type Tokenizer } from '../../language/tokens/index.ts'
import type { Stream } from '../../schema/index.ts'
import type { RlSettings } from './config.ts'

export type Replay = (step: number) => TrainingExample[]

/** The weight of the SFT loss in a step, from 1: it falls linearly, to 0 after the last step. */
export function replayWeightAt(
  step: number,
  { replay, steps }: Pick<RlSettings, 'replay' | 'steps'>,
): number {
  return replay * Math.max(0, 1 - (step - 1) / steps)
}

/**
 * An anchor against forgetting: each step also trains on a few of the sequences that SFT was trained on, other ones every
 * time. The examples are weighted; their cross-entropy is added to the loss of the step.
 */
export function replayFrom(
  sequences: readonly Stream[],
  tokenizer: Tokenizer,
  settings: Pick<RlSettings, 'replay' | 'replay_sequences' | 'steps' | 'seed'>,
): Replay {
  if (sequences.length === 0)
    throw new ConfigError(`rl.replay is ${settings.replay}, but the run has no selected sequences`, {
      fix: 'Distill and filter team runs first (`coa distill`, `coa filter`), or set rl.replay to 0.',
    })
  // A chat template may print the date, which must be the same in every step.
  const date = new Date()
  const exampleOf = (sequence: Stream): TrainingExample => {
    const { ids, mask } = encodeStream(tokenizer, sequence, { prompt: { date } })
    const weights = Float32Array.from(mask)
    weights[0] = 0
    return { tokens: ids, weights }
  }
  return (step) => {
    const weight = replayWeightAt(step, settings)
    if (weight === 0) return []
    const chosen = Array.from(
      { length: Math.min(settings.replay_sequences, sequences.length) },
      (_, number) => sequences[seedOf('replay', settings.seed, step, number) % sequences.length]!,
    )
    return normalized(chosen.map(exampleOf)).map((example) => ({
      ...example,
      weights: divided(example.weights, 1 / weight),
    }))
  }
}
