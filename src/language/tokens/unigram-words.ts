import { TokenizerError } from '../../base/errors/index.ts'
import { createByteFallback } from './byte-fallback.ts'
import { Unigram } from './library.ts'
import { type EncodeWord, WordBuilder, type WordModel } from './words.ts'

/**
 * Words to tokens by a Unigram model. Neighbouring unknown characters become one unknown token, or bytes where
 * the model has byte fallback (which the library leaves out).
 */
export function createUnigramWords({ model, vocabulary, unknown }: WordModel): EncodeWord {
  const entries = model.vocab as unknown as Array<[string, number]>
  // A control token written in the text must not be found by the model; a lone surrogate never occurs in a text
  // that reaches it, so an entry that begins with one is out of reach while all ids stay in place.
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
        `The tokenizer has no token for ${JSON.stringify(character)} and none for the unknown.`,
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
