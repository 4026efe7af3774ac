import { TokenizerError } from '../../base/errors/index.ts'
import { type AlignedText, applyEdits, type Edit, mapMatches, withText } from './aligned-text.ts'
import { normalizeBert } from './bert-normalize.ts'
import { SplitPreTokenizer } from './library.ts'
import { precompiledNormalizer } from './precompiled.ts'
import type { Component } from './tokenizer-json.ts'
import { normalizeForm, type UnicodeForm } from './unicode-forms.ts'

export type Normalize = (text: AlignedText) => AlignedText

/**
 * Builds the normalizer of a tokenizer.json. Each step is a list of edits, so positions are preserved by
 * construction. `prefix: false` omits the dummy prefix, for text that continues other text.
 */
export function createNormalizer(
  component: Component | null | undefined,
  options: { prefix: boolean },
): Normalize {
  if (component === null || component === undefined) return (text) => text
  switch (component.type) {
    case 'Sequence': {
      const steps = ((component['normalizers'] ?? []) as Component[]).map((step) =>
        createNormalizer(step, options),
      )
      return (text) => steps.reduce((current, step) => step(current), text)
    }
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD': {
      const form = component.type satisfies UnicodeForm
      return (text) => normalizeForm(text, form)
    }
    case 'Prepend': {
      const prefix = String(component['prepend'] ?? '')
      if (!options.prefix || prefix === '') return (text) => text
      return (text) => (text.text === '' ? text : applyEdits(text, [{ start: 0, end: 0, text: prefix }]))
    }
    case 'Replace':
      return createReplace(component)
    case 'Lowercase':
      return (text) =>
        mapMatches(text, /\p{Changes_When_Lowercased}/gu, (character) => character.toLowerCase())
    case 'StripAccents':
      return (text) => mapMatches(text, /\p{M}/gu, () => '')
    case 'Strip':
      return (text) => strip(text, component['strip_left'] !== false, component['strip_right'] !== false)
    case 'BertNormalizer':
      return (text) => normalizeBert(text, component)
    case 'Precompiled':
      return precompiledNormalizer(component['precompiled_charsmap'])
    default:
      throw new TokenizerError(`The tokenizer's normalizer "${component.type}" is not supported.`, {
        fix: 'Use a tokenizer with an NFC, NFKC, Replace, Prepend, Strip, Lowercase, Bert or Precompiled normalizer.',
      })
  }
}

function createReplace(component: Component): Normalize {
  const content = String(component['content'] ?? '')
  const pattern = component['pattern'] as { String?: string; Regex?: string } | undefined
  const literal = pattern?.String
  if (literal?.length === 1 && content.length === 1) {
    // The usual space → ▁: one unit for one unit, so positions do not change.
    return (text) => withText(text, text.text.replaceAll(literal, content))
  }
  const regex = compilePattern(pattern)
  return (text) => mapMatches(text, regex, (match) => (match === '' ? match : content))
}

function strip(aligned: AlignedText, left: boolean, right: boolean): AlignedText {
  const { text } = aligned
  const edits: Edit[] = []
  const leading = left ? (/^\p{White_Space}+/u.exec(text)?.[0].length ?? 0) : 0
  if (leading > 0) edits.push({ start: 0, end: leading, text: '' })
  let end = text.length
  // By hand from the end: a regex anchored at the end would try every run of spaces in the text.
  while (right && end > leading && /\p{White_Space}/u.test(text[end - 1]!)) end--
  if (end < text.length) edits.push({ start: end, end: text.length, text: '' })
  return applyEdits(aligned, edits)
}

/** Compiles a pattern from tokenizer.json; the library translates Oniguruma syntax to JavaScript. */
export function compilePattern(pattern: { String?: string; Regex?: string } | undefined): RegExp {
  try {
    const compiled = new SplitPreTokenizer({
      type: 'Split',
      pattern: pattern ?? {},
      behavior: 'Isolated',
      invert: true,
    }).pattern
    if (compiled !== null) return compiled
  } catch (cause) {
    throw new TokenizerError(`The tokenizer's pattern ${JSON.stringify(pattern)} is not supported.`, {
      cause,
      fix: 'Use a tokenizer whose patterns JavaScript can express.',
    })
  }
  throw new TokenizerError('The tokenizer has a pattern that is neither a string nor a regex.', {
    fix: 'Use the tokenizer.json that Hugging Face `tokenizers` writes.',
  })
}
