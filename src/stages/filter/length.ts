import { encodeStream, type Tokenizer } from '../../language/tokens/index.ts'
import type { Stream } from '../../schema/index.ts'
import type { Drop } from './examine.ts'
import type { FilterSettings } from './settings.ts'

/** More than any known chat template adds around a message. */
const TEMPLATE_BYTES = 256

/** A sequence that exceeds the student's context cannot be trained on whole, and a truncated chain has no answer. */
export function tooLong(
  sequence: Pick<Stream, 'prompt' | 'spans'>,
  settings: Pick<FilterSettings, 'max_tokens' | 'max_characters'>,
  tokenizer: Tokenizer,
): Drop | undefined {
  const { max_tokens, max_characters } = settings
  if (max_characters > 0) {
    const characters = lengthOf(sequence, (text) => text.length)
    if (characters > max_characters)
      return { reason: `over ${max_characters} characters`, detail: `${characters}` }
  }
  if (max_tokens === 0) return undefined
  // A token covers at least one byte, so most sequences are known to fit without being encoded.
  const bytes = lengthOf(sequence, (text) => Buffer.byteLength(text))
  if (bytes + TEMPLATE_BYTES * (sequence.prompt.length + 1) <= max_tokens) return undefined
  const tokens = encodeStream(tokenizer, sequence).ids.length
  return tokens <= max_tokens ? undefined : { reason: `over ${max_tokens} tokens`, detail: `${tokens}` }
}

function lengthOf({ prompt, spans }: Pick<Stream, 'prompt' | 'spans'>, measure: (text: string) => number) {
  let length = 0
  for (const { content } of prompt) length += measure(content)
  for (const { text } of spans) length += measure(text)
  return length
}
