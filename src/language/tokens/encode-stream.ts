import { TokenizerError } from '../../base/errors/index.ts'
import type { Stream } from '../../schema/index.ts'
import { encodePrompt } from './encode-prompt.ts'
import { type EncodeSpansOptions, encodeSpans } from './encode-spans.ts'
import type { RenderPromptOptions } from './render-prompt.ts'
import type { Tokenizer } from './tokenizer.ts'

export interface EncodeStreamOptions extends Pick<EncodeSpansOptions, 'spanEncoding' | 'specials'> {
  /** Whether to append the end-of-sequence token, with loss. Default: true if the tokenizer has one. */
  endOfSequence?: boolean
  prompt?: RenderPromptOptions
}

export interface EncodedStream {
  ids: Int32Array
  /** 1 for tokens with loss; 0 for prompt and observation tokens. */
  mask: Uint8Array
  promptLength: number
  /** The span index of each token; -1 for the prompt and the end-of-sequence token. */
  spanOf: Int32Array
  /** Tokens that contain both trainable and other text; always 0 with spanEncoding 'separate'. */
  straddling: number
}

/**
 * Encodes a whole sequence: the prompt, the stream that follows it, and the end token, with a loss mask.
 *
 * @example
 * import { openRun, readSelection } from 'chain-of-agents'
 * import { encodeStream, openTokenizer } from 'chain-of-agents/engine'
 *
 * using run = openRun('runs/my-run')
 * const tokenizer = await openTokenizer('models/mine')
 * for (const { sequence } of readSelection(run)) {
 *   const { ids, mask } = encodeStream(tokenizer, sequence)
 *   console.log(ids.length, mask.filter((bit) => bit === 1).length)
 * }
 */
export function encodeStream(
  tokenizer: Tokenizer,
  sequence: Pick<Stream, 'prompt' | 'spans'>,
  options: EncodeStreamOptions = {},
): EncodedStream {
  const { endOfSequence = tokenizer.eosId !== undefined, prompt: promptOptions, ...spanOptions } = options
  if (endOfSequence && tokenizer.eosId === undefined) {
    throw new TokenizerError('The tokenizer has no end-of-sequence token.', {
      fix: 'Set eos_token in tokenizer_config.json, or pass endOfSequence: false.',
    })
  }
  const hasPrompt = sequence.prompt.length > 0
  const prompt = hasPrompt ? encodePrompt(tokenizer, sequence.prompt, promptOptions) : new Int32Array(0)
  const stream = encodeSpans(tokenizer, sequence.spans, { ...spanOptions, continues: hasPrompt })
  const length = prompt.length + stream.ids.length + (endOfSequence ? 1 : 0)
  const ids = new Int32Array(length)
  const mask = new Uint8Array(length)
  const spanOf = new Int32Array(length).fill(-1)
  ids.set(prompt)
  ids.set(stream.ids, prompt.length)
  mask.set(stream.mask, prompt.length)
  spanOf.set(stream.spanOf, prompt.length)
  if (endOfSequence) {
    ids[length - 1] = tokenizer.eosId!
    mask[length - 1] = 1
  }
  return { ids, mask, promptLength: prompt.length, spanOf, straddling: stream.straddling }
}
