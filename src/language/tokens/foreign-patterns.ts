import type { Component, TokenizerJson } from './tokenizer-json.ts'
import { wordScanner } from './word-scanner.ts'

/** Whether encoding runs regular expressions from the tokenizer's files, which may never terminate. */
export function hasForeignPatterns({ normalizer, pre_tokenizer }: TokenizerJson): boolean {
  return [normalizer, pre_tokenizer].some(hasPattern)
}

/** The same for decoding. */
export function decodesByForeignPatterns({ decoder }: TokenizerJson): boolean {
  return hasPattern(decoder)
}

function hasPattern(component: Component | null | undefined): boolean {
  if (component === null || component === undefined) return false
  const regex = (component['pattern'] as { Regex?: unknown } | undefined)?.Regex
  if (typeof regex === 'string' && wordScanner(regex) === undefined) return true
  return ['normalizers', 'pretokenizers', 'decoders'].some((name) =>
    ((component[name] ?? []) as Component[]).some(hasPattern),
  )
}
