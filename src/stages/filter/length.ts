import type { Drop } from './examine.ts'
import type { FilterSettings } from './settings.ts'

/** More than any known chat template adds around a message. */
const TEMPLATE_BYTES = 256

/** A sequence that exceeds the student's context cannot be trained on whole, and a truncated chain has no answer. */
export function tooLong(
  { messages, stream }: { messages: readonly string[]; stream: string },
  { max_tokens, max_characters }: Pick<FilterSettings, 'max_tokens' | 'max_characters'>,
  countTokens: () => number,
): Drop | undefined {
  const total = (measure: (text: string) => number): number =>
    messages.reduce((sum, text) => sum + measure(text), measure(stream))
  if (max_characters > 0) {
    const characters = total((text) => text.length)
    if (characters > max_characters)
      return { reason: `over ${max_characters} characters`, detail: `${characters}` }
  }
  if (max_tokens === 0) return undefined
  // A token covers at least one byte, so most sequences are known to fit without being encoded.
  const bytes = total((text) => Buffer.byteLength(text))
  if (bytes + TEMPLATE_BYTES * (messages.length + 1) <= max_tokens) return undefined
  const tokens = countTokens()
  return tokens <= max_tokens ? undefined : { reason: `over ${max_tokens} tokens`, detail: `${tokens}` }
}
