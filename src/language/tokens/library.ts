import * as tokenizers from '@huggingface/tokenizers'

/**
 * The door to @huggingface/tokenizers: the parts used here, with their types. The package's own declarations
 * import without file extensions, which TypeScript does not follow under Node's module rules.
 */
interface Library {
  BPE: new (
    config: object,
  ) => {
    /** Words up to this length are kept in the library's own cache. */
    max_length_to_cache: number
    /** Merges a word; the pieces joined are the word. */
    bpe(word: string): string[]
  }
  Unigram: new (
    config: object,
    endOfSequence: string,
  ) => {
    /** Cuts a word into its likeliest pieces; the pieces joined are the word. */
    tokenize(word: string): string[]
  }
  SplitPreTokenizer: new (config: object) => { pattern: RegExp | null }
  SequenceDecoder: new (config: object) => { decode(tokens: string[]): string }
}

export const { BPE, Unigram, SplitPreTokenizer, SequenceDecoder } = tokenizers as unknown as Library
