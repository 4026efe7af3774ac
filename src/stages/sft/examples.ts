import type { EngineDescription, TrainingExample } from '../../engine/contract.ts'
import { encodeStream } from '../../language/tokens/encode-stream.ts'
import type { Tokenizer } from '../../language/tokens/tokenizer.ts'
import { isTrained } from '../../schema/index.ts'
import type { Selected } from '../../store/selection.ts'

/** A tokenized sequence. The loss mask takes one byte per token until its step comes. */
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
  /** For chat templates that print the date: the same when training resumes. */
  date: Date
}

/** Encodes a sequence for training, or says why that is not possible. */
export function exampleOf(
  { sequence, weight }: Selected,
  options: ExampleOptions,
): Example | { reason: string } {
  const { tokenizer, limits, maskObservations, date } = options
  if (!(Number.isInteger(weight) && weight > 0)) return { reason: `a weight of ${weight}` }
  // The end-of-text token is trained on too, but alone it is not enough.
  if (!sequence.spans.some((span) => isTrained(span) && span.text !== ''))
    return { reason: 'no tokens to train on' }
  const { ids, mask, promptLength } = encodeStream(tokenizer, sequence, { prompt: { date } })
  const learned = maskObservations ? mask : new Uint8Array(ids.length).fill(1, promptLength)
  // The first token has no context to be predicted from.
  learned[0] = 0
  const learnedTokens = learned.reduce((sum, each) => sum + each, 0)
  if (learnedTokens === 0) return { reason: 'no tokens to train on' }
  // A server that does not report its vocabulary size gives 0.
  const unknown = limits.vocabularySize > 0 && ids.some((id) => id >= limits.vocabularySize)
  if (unknown) return { reason: "tokens outside the model's vocabulary" }
  const { id, taskId = id } = sequence
  return { id, taskId, tokens: ids, learned, learnedTokens, times: weight }
}

export function trainingExample({ tokens, learned }: Example): TrainingExample {
  return { tokens, weights: new Float32Array(learned) }
}
