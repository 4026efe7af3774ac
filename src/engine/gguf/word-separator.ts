import { patternsOf, separatedPattern } from './pre-tokenizers.ts'

/**
 * llama.cpp splits text into words by one of its built-in patterns; a file can only name one. For a tokenizer with another
 * pattern, the file names a pre-tokenizer that splits off nothing but numbers, and leaves one byte out of the vocabulary:
 * the control character U+001F, which no text contains. llama.cpp drops bytes it has no token for, and no merge reaches
 * across them. So a text with this character after each word has exactly the tokens that the tokenizer gives the text.
 */
export const WORD_SEPARATOR = '\u001f'

/** The byte as it is written in a byte-level vocabulary. */
export const SEPARATOR_BYTE = '\u011f'

/** What the file contains instead of the byte. */
export const SEPARATOR_TOKEN = '[WORD_SEPARATOR]'

/** How to separate the words of a text: in the pieces between these tokens, after each match of the pattern. */
export interface WordSeparation {
  separator: string
  pattern: string
  /** Longest first. */
  tokens: string[]
}

/** How text must be separated for llama.cpp; undefined for tokenizers whose pattern it knows. */
export function wordSeparationOf(tokenizerJson: Record<string, unknown>): WordSeparation | undefined {
  const patterns = patternsOf(tokenizerJson['pre_tokenizer'])
  if (patterns?.join('\0') !== separatedPattern) return undefined
  const added = (tokenizerJson['added_tokens'] ?? []) as { content: string }[]
  const tokens = added.map(({ content }) => content)
  return {
    separator: WORD_SEPARATOR,
    pattern: separatedPattern,
    tokens: tokens.sort((one, other) => other.length - one.length),
  }
}
