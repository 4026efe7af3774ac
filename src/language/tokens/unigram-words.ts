import { TokenizerError } from '../../base/errors/index.ts'
import { createByteFallback } from './byte-fallback.ts'
import { Unigram } from './library.ts'
import { type EncodeWord, WordBuilder, type WordModel } from './words.ts'

/**
 * Encodes words with a Unigram model. Adjacent unknown characters become one unknown token, or bytes if the model has
 * byte fallback (which the library does not implement).
 */
export function createUnigramWords({ model, vocabulary, unknown }: WordModel): EncodeWord {
  const entries = model.vocab as unknown as Array<[string, number]>
  // The model must not match a control token in the text. No text passed to it contains a lone surrogate, so an entry
  // that starts with one is unreachable while all ids stay the same.
  const reachable = entries.map(([token, score], id) => [
    vocabulary.has(token) ? token : `\ud800${id}`,
    score,
  ])
  const lattice = new Unigram({ ...model, vocab: reachable }, '')
  const byteFallback = model.byte_fallback ? createByteFallback(vocabulary) : undefined

  const pushUnknown = (tokens: WordBuilder, character: string, start: number): void => {
    const end = start + character.length
    const bytes = byteFallback?.(character)
    if (bytes !== undefined) for (const byte of bytes) tokens.push(byte, start, end)
    else if (unknown !== undefined) tokens.pushFused(unknown, start, end)
    else {
      throw new TokenizerError(
        `The tokenizer has no token for ${JSON.stringify(character)} and no unknown token.`,
        {
          fix: 'Use a tokenizer with an unknown token or with byte fallback.',
        },
      )
    }
  }

  return (word) => {
    const tokens = new WordBuilder()
    let start = 0
    for (const piece of lattice.tokenize(word)) {
      const id = vocabulary.get(piece)
      if (id === undefined) pushUnknown(tokens, piece, start)
      else tokens.push(id, start, start + piece.length)
      start += piece.length
    }
    return tokens
  }
}
