import type { EngineDescription, TrainingExample } from '../../engine/index.ts'
import { encodeStream, type Tokenizer } from '../../language/tokens/index.ts'
import { isTrained } from '../../schema/index.ts'
import type { Selected } from '../../store/index.ts'

/** A sequence in tokens. What is learned of it is held as one byte a token, until its step comes. */
export interface Example {
  id: string
  taskId: string
  tokens: Int32Array
  learned: Uint8Array
  learnedTokens: number
  times: number
}

export interface ExampleOptions {
  tokenizer: Tokenizer
  limits: Pick<EngineDescription, 'vocabularySize'>
  maskObservations: boolean
  /** For templates that print it: the same whenever training goes on. */
  date: Date
}

/** The sequence as it is trained on, or why it cannot be. */
export function exampleOf(
  { sequence, weight }: Selected,
  options: ExampleOptions,
): Example | { reason: string } {
  const { tokenizer, limits, maskObservations, date } = options
  if (!(Number.isInteger(weight) && weight > 0)) return { reason: `a weight of ${weight}` }
  // The end of the text alone, which is learned too, is no lesson.
  if (!sequence.spans.some((span) => isTrained(span) && span.text !== ''))
    return { reason: 'nothing to learn from' }
  const { ids, mask, promptLength } = encodeStream(tokenizer, sequence, { prompt: { date } })
  const learned = maskObservations ? mask : new Uint8Array(ids.length).fill(1, promptLength)
  // Nothing comes before the first token, so nothing predicts it.
  learned[0] = 0
  const learnedTokens = learned.reduce((sum, each) => sum + each, 0)
  if (learnedTokens === 0) return { reason: 'nothing to learn from' }
  // A server that does not tell its vocabulary says 0.
  const unknown = limits.vocabularySize > 0 && ids.some((id) => id >= limits.vocabularySize)
  if (unknown) return { reason: "tokens outside of the model's vocabulary" }
  const { id, taskId = id } = sequence
  return { id, taskId, tokens: ids, learned, learnedTokens, times: weight }
}

export function trainingExample({ tokens, learned }: Example): TrainingExample {
  return { tokens, weights: Float32Array.from(learned) }
}
