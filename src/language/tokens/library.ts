import * as tokenizers from '@huggingface/tokenizers'

/**
 * The parts of @huggingface/tokenizers that we use, with types; nothing else imports it. The package's own
 * declarations import without file extensions, which TypeScript does not resolve under Node's module rules.
 */
interface Library {
  BPE: new (
    config: object,
  ) => {
    /** Maximum length of words in the library's own cache. */
    max_length_to_cache: number
    /** Merges a word; the pieces joined are the word. */
    bpe(word: string): string[]
  }
  Unigram: new (
    config: object,
    endOfSequence: string,
  ) => {
    /** Splits a word into its most likely pieces; the pieces joined are the word. */
    tokenize(word: string): string[]
  }
  SplitPreTokenizer: new (config: object) => { pattern: RegExp | null }
  SequenceDecoder: new (config: object) => { decode(tokens: string[]): string }
}

export const { BPE, Unigram, SplitPreTokenizer, SequenceDecoder } = tokenizers as unknown as Library
