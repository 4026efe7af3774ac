import { CoaError } from '../../base/errors/index.ts'
import {
  type EncodedStream,
  encodeStream,
  type RenderPromptOptions,
  type Tokenizer,
} from '../../language/tokens/index.ts'
import type { Stream } from '../../schema/index.ts'
import type { Row, TextFormat, TokenFormat } from './format.ts'
import { nothingTrained } from './formats/refusals.ts'

/** A sequence with what all formats need, computed once. */
export interface Prepared {
  sequence: Stream
  /** How its prompt is rendered: templates may print the date. */
  rendering: RenderPromptOptions
  /** Undefined, with a reason, if the tokenizer refuses it. */
  encoded: EncodedStream | undefined
  refusal: string | undefined
}

export function prepare(tokenizer: Tokenizer, sequence: Stream, date: string): Prepared {
  const rendering = { date: new Date(date) }
  try {
    const encoded = encodeStream(tokenizer, sequence, { prompt: rendering })
    return { sequence, rendering, encoded, refusal: undefined }
  } catch (error) {
    if (!(CoaError.isInstance(error) && error.boundary === 'tokens')) throw error
    return { sequence, rendering, encoded: undefined, refusal: error.message }
  }
}

/** The row of a sequence, or why it has none. Export and check share this decision. */
export function rowOf(
  format: TextFormat | TokenFormat,
  prepared: Prepared,
): { row: Row } | { reason: string } {
  const { sequence, encoded, refusal } = prepared
  if (format.carries === 'text') {
    const reason = format.refuse(sequence)
    return reason === undefined ? { row: format.toRow(sequence) } : { reason }
  }
  const reason = nothingTrained(sequence) ?? refusal
  if (reason !== undefined || encoded === undefined) return { reason: reason ?? 'it could not be encoded' }
  if (encoded.ids.length < 2) return { reason: 'a single token without context' }
  return { row: format.toRow(sequence, encoded) }
}

/** Finds control tokens spelled out in the text of a sequence. */
export function controlTokenFinder(tokenizer: Tokenizer): (sequence: Stream) => boolean {
  const tokens = [...tokenizer.controlTokens].map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (tokens.length === 0) return () => false
  const pattern = new RegExp(tokens.join('|'))
  return ({ prompt, spans }) =>
    prompt.some(({ content }) => pattern.test(content)) || spans.some(({ text }) => pattern.test(text))
}
