import { TokenizerError } from '../../base/errors/index.ts'
import { createByteFallback } from './byte-fallback.ts'
import { byteCharacters, characterOfByte } from './byte-level.ts'
import { BPE } from './library.ts'
import type { ModelJson } from './tokenizer-json.ts'
import { type EncodeWord, WordBuilder, type WordModel } from './words.ts'

/**
 * Encodes words by byte-pair encoding. The library does the merging; id lookup, byte fallback and unknown tokens are
 * handled here, where the text behind a token is still known.
 */
export function createBpeWords(
  { model, vocabulary, unknown }: WordModel,
  options: { byteLevel: boolean },
): EncodeWord {
  if (model.continuing_subword_prefix) {
    throw new TokenizerError('BPE tokenizers with continuing_subword_prefix are not supported.', {
      fix: 'Use a tokenizer without continuing_subword_prefix.',
    })
  }
  const merger = createMerger(model)
  const byteFallback = model.byte_fallback ? createByteFallback(vocabulary) : undefined
  const ignoreMerges = model.ignore_merges === true

  const pushUnknown = (tokens: WordBuilder, text: string, start: number): void => {
    for (const character of text) {
      const end = start + character.length
      // Merges into a token that text may not produce are split into characters again.
      const id = character === text ? undefined : vocabulary.get(character)
      const bytes = id === undefined ? byteFallback?.(character) : undefined
      if (id !== undefined) tokens.push(id, start, end)
      else if (bytes !== undefined) for (const byte of bytes) tokens.push(byte, start, end)
      else if (unknown !== undefined) {
        if (model.fuse_unk) tokens.pushFused(unknown, start, end)
        else tokens.push(unknown, start, end)
      }
      start = end
    }
  }

  const encodeCharacters: EncodeWord = (word) => {
    const tokens = new WordBuilder()
    const whole = ignoreMerges ? vocabulary.get(word) : undefined
    if (whole !== undefined) {
      tokens.push(whole, 0, word.length)
      return tokens
    }
    let start = 0
    const suffix = model.end_of_word_suffix ?? ''
    for (const piece of merger.bpe(word)) {
      const id = vocabulary.get(piece)
      const text =
        suffix !== '' && start + piece.length > word.length ? piece.slice(0, -suffix.length) : piece
      if (id === undefined) pushUnknown(tokens, text, start)
      else tokens.push(id, start, start + text.length)
      start += text.length
    }
    return tokens
  }
  return options.byteLevel ? throughBytes(encodeCharacters) : encodeCharacters
}

function createMerger(model: ModelJson): InstanceType<typeof BPE> {
  const merger = new BPE({ ...model, merges: model['merges'] ?? [] })
  // Words are cached one level up, with their positions; the library's cache would also keep texts in memory.
  merger.max_length_to_cache = 0
  return merger
}

/** Encodes a word as byte characters; a token that contains part of a character covers the whole character. */
function throughBytes(encodeCharacters: EncodeWord): EncodeWord {
  return (word) => {
    const tokens = encodeCharacters(byteCharacters(word))
    const characters = characterOfByte(word)
    if (characters === null) return tokens
    return {
      ids: tokens.ids,
      starts: tokens.starts.map((byte) => characters.starts[byte]!),
      ends: tokens.ends.map((byte) => characters.ends[byte - 1]!),
    }
  }
}

/**
 * A pattern that splits text between a character and the ▁ after it, or undefined. SentencePiece-style tokenizers
 * have no pre-tokenizer and would merge a whole text as one word. If no token has ▁ after another character, no merge
 * can cross such a position, so splitting there first gives the same tokens.
 */
export function safeSplit(vocabulary: ReadonlyMap<string, number>): RegExp | undefined {
  if (!vocabulary.has('▁')) return undefined
  for (const token of vocabulary.keys()) if (/[^▁]▁/u.test(token)) return undefined
  return /▁*[^▁]+|▁+/gu
}
