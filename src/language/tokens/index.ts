/**
 * Encodes text to tokens and back, with the position of every token in the text, from which the training mask is
 * derived.
 */
export { byteTokenizer, byteTokenizerFiles } from './byte-tokenizer.ts'
export type { DecodeOptions } from './decode.ts'
export { encodePrompt } from './encode-prompt.ts'
export { type EncodedSpans, type EncodeSpansOptions, encodeSpans, type SpanText } from './encode-spans.ts'
export { type EncodedStream, type EncodeStreamOptions, encodeStream } from './encode-stream.ts'
export type { TokenMask } from './mask.ts'
export { openTokenizer } from './open-tokenizer.ts'
export { type RenderPromptOptions, renderPrompt } from './render-prompt.ts'
export { TextStream } from './text-stream.ts'
export type { Encoding } from './token-sink.ts'
export {
  type EncodeOptions,
  type Tokenizer,
  type TokenizerDescription,
  tokenizerFromJson,
} from './tokenizer.ts'
export { tokenizerNamed } from './tokenizer-named.ts'
