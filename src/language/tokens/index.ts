/**
 * Text to tokens and back, with the place of every token in the text, and from there to the training mask.
 */
export { byteTokenizer, byteTokenizerFiles } from './byte-tokenizer.ts'
export type { DecodeOptions } from './decode.ts'
export { encodePrompt } from './encode-prompt.ts'
export { type EncodedSequence, type EncodeSequenceOptions, encodeSequence } from './encode-sequence.ts'
export { type EncodedSpans, type EncodeSpansOptions, encodeSpans, type SpanText } from './encode-spans.ts'
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
