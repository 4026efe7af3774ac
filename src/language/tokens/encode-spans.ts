import { isTrained, type SpanKind } from '../../schema/index.ts'
import { maskFromOffsets, type TokenMask } from './mask.ts'
import type { Encoding } from './token-sink.ts'
import type { EncodeOptions, Tokenizer } from './tokenizer.ts'

export interface EncodeSpansOptions {
  /**
   * How tokens are split where trainable text borders on other text. 'separate' (the default): the pieces between these
   * borders are encoded separately, as in a rollout, where sampled tokens are kept and an observation is encoded on
   * its own and appended; no token can straddle a border. 'whole': the stream is encoded at once, as other trainers
   * do; a token that straddles a border is masked.
   */
  spanEncoding?: 'whole' | 'separate'
  /** See EncodeOptions: 'text' (the default) keeps control tokens out of the stream. */
  specials?: EncodeOptions['specials']
  /** The stream follows a prompt, so its first piece gets no dummy prefix either. Default false. */
  continues?: boolean
}

export type EncodedSpans = Encoding & TokenMask

export interface SpanText {
  text: string
  kind: SpanKind
}

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
  const pieces =
    options.spanEncoding === 'whole' ? [spans.map((span) => span.text).join('')] : cutPieces(spans)
  const encoding = tokenizer.encodeParts(pieces, {
    specials: options.specials ?? 'text',
    continues: options.continues === true,
  })
  const regions = spans.map((span) => ({ length: span.text.length, trainable: isTrained(span) }))
  return { ...encoding, ...maskFromOffsets(encoding.starts, encoding.ends, regions) }
}

/** Neighboring spans that are both trained on, or both masked, as one text. */
function cutPieces(spans: readonly SpanText[]): string[] {
  const pieces: string[] = []
  let before: boolean | undefined
  for (const span of spans) {
    if (span.text === '') continue
    const trained = isTrained(span)
    if (trained === before) pieces[pieces.length - 1] += span.text
    else pieces.push(span.text)
    before = trained
  }
  return pieces
}
