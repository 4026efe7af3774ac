import type { Span } from '../../schema/index.ts'
import { maskFromOffsets, type TokenMask } from './mask.ts'
import type { Encoding } from './token-sink.ts'
import type { EncodeOptions, Tokenizer } from './tokenizer.ts'

export interface EncodeSpansOptions {
  /**
   * How tokens meet where trainable text borders on other text. 'cut' (the default): the stream is encoded in pieces
   * cut at these borders, which is what happens in a rollout, where sampled tokens are kept and an observation is
   * encoded on its own and appended; no token can straddle. 'whole': the stream is encoded in one go, as
   * other trainers do; a token that straddles a border is masked.
   */
  joints?: 'whole' | 'cut'
  /** See EncodeOptions: 'text' (the default) keeps control tokens out of the stream. */
  specials?: EncodeOptions['specials']
  /** The stream follows a prompt: no dummy prefix on its first piece either. Default false. */
  continues?: boolean
}

export type EncodedSpans = Encoding & TokenMask

export type SpanText = Pick<Span, 'text' | 'trainable'>

/**
 * Encodes spans as tokens, each with its mask, its span and its position in the joined text.
 *
 * @example
 * import { loadGrammar, parseChain, spansOf } from 'chain-of-agents'
 * import { encodeSpans } from 'chain-of-agents/engine'
 * import { byteTokenizer } from 'chain-of-agents/testing'
 *
 * const chain = parseChain(await loadGrammar('math'), '<think>17 + 4</think><answer>21</answer>')
 * const { ids, mask } = encodeSpans(byteTokenizer(), spansOf(chain))
 */
export function encodeSpans(
  tokenizer: Tokenizer,
  spans: readonly SpanText[],
  options: EncodeSpansOptions = {},
): EncodedSpans {
  const pieces = options.joints === 'whole' ? [spans.map((span) => span.text).join('')] : cutPieces(spans)
  const encoding = tokenizer.encodeParts(pieces, {
    specials: options.specials ?? 'text',
    continues: options.continues === true,
  })
  const regions = spans.map((span) => ({ length: span.text.length, trainable: span.trainable }))
  return { ...encoding, ...maskFromOffsets(encoding.starts, encoding.ends, regions) }
}

/** Neighbouring spans of the same kind as one text. */
function cutPieces(spans: readonly SpanText[]): string[] {
  const pieces: string[] = []
  let kind: boolean | undefined
  for (const span of spans) {
    if (span.text === '') continue
    if (span.trainable === kind) pieces[pieces.length - 1] += span.text
    else pieces.push(span.text)
    kind = span.trainable
  }
  return pieces
}
