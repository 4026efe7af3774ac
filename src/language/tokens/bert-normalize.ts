import { type AlignedText, mapMatches } from './aligned-text.ts'
import type { Component } from './tokenizer-json.ts'
import { normalizeForm } from './unicode-forms.ts'

const ideograph =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu

/**
 * BERT's normalizer: clean up, add spaces around ideographs, strip accents, lower-case; in the Rust library's order.
 */
export function normalizeBert(aligned: AlignedText, component: Component): AlignedText {
  const lowercase = component['lowercase'] !== false
  const stripAccents = (component['strip_accents'] ?? lowercase) === true
  let text = aligned
  if (component['clean_text'] !== false) {
    text = mapMatches(text, /[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, () => '')
    text = mapMatches(text, /\p{White_Space}/gu, () => ' ')
  }
  if (component['handle_chinese_chars'] !== false) text = mapMatches(text, ideograph, (match) => ` ${match} `)
  if (stripAccents) text = mapMatches(normalizeForm(text, 'NFD'), /\p{Mn}/gu, () => '')
  if (lowercase) text = mapMatches(text, /\p{Changes_When_Lowercased}/gu, (match) => match.toLowerCase())
  return text
}
