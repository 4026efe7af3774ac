import { type EncodeWord, WordBuilder, type WordModel } from './words.ts'

/** Encodes words by WordPiece: the longest match first; a word that cannot be encoded is one unknown token. */
export function createWordPieceWords({ model, vocabulary, unknown }: WordModel): EncodeWord {
  const prefix = model.continuing_subword_prefix ?? '##'
  const longest = Number(model['max_input_chars_per_word'] ?? 100)
  let longestToken = 0
  for (const token of vocabulary.keys()) longestToken = Math.max(longestToken, token.length)

  return (word) => {
    const tokens = new WordBuilder()
    let start = 0
    const isShortEnough = [...word].length <= longest
    while (isShortEnough && start < word.length) {
      let end = Math.min(word.length, start + longestToken)
      let id: number | undefined
      for (; end > start; end--) {
        id = vocabulary.get((start > 0 ? prefix : '') + word.slice(start, end))
        if (id !== undefined) break
      }
      if (id === undefined) break
      tokens.push(id, start, end)
      start = end
    }
    if (start === word.length) return tokens
    const whole = new WordBuilder()
    if (unknown !== undefined) whole.push(unknown, 0, word.length)
    return whole
  }
}
