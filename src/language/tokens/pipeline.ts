import { type Accept, AddedTokenFinder } from './added-tokens.ts'
import { type AlignedText, originalEnd, originalStart, plainText, slice } from './aligned-text.ts'
import { createNormalizer } from './normalize.ts'
import { splitPieces } from './pieces.ts'
import { createPreTokenizer } from './pre-tokenize.ts'
import type { Encoding, TokenSink } from './token-sink.ts'
import type { AddedToken, TokenizerJson } from './tokenizer-json.ts'
import { UnitReader } from './units.ts'
import type { EncodeWordAt } from './word-cache.ts'
import type { WordScanner } from './word-scanner.ts'

/** `repeats` means that parts of the text recur often, such as the system prompt of a template. */
export type Pipeline = (text: string, sink: TokenSink, accept: Accept, repeats: boolean) => void

/** Minimum length and number of cached parts between control tokens. */
const minCachedLength = 512
const maxCachedParts = 32

/**
 * The steps from text to tokens: extract added tokens, normalize, extract added tokens that match normalized text,
 * split into words, encode each word. The library has these steps too but loses positions, so they are done here; its
 * regex translation, merging and lattice are used inside.
 */
export function createPipeline(options: {
  json: TokenizerJson
  added: readonly AddedToken[]
  encodeWord: EncodeWordAt
  /** Where words can be split without changing their tokens. */
  safeSplit: RegExp | undefined
  /** False for text that continues other text: no dummy prefix. */
  prefix: boolean
}): Pipeline {
  const { json, added, encodeWord, safeSplit, prefix } = options
  const normalize = createNormalizer(json.normalizer, { prefix })
  const preTokenizer = createPreTokenizer(json.pre_tokenizer, { prefix })
  const isNormalized = (token: AddedToken): boolean =>
    json.normalizer != null && (token.normalized ?? !token.special)
  const rawTokens = new AddedTokenFinder(
    added.filter((token) => !isNormalized(token)).map((token) => ({ content: token.content, token })),
  )
  const normalizedTokens = new AddedTokenFinder(
    added
      .filter(isNormalized)
      .map((token) => ({ content: normalize(plainText(token.content, 0)).text, token }))
      .filter(({ content }) => content !== ''),
  )

  const wordReader = new UnitReader()
  const encodeText = (source: AlignedText, sink: TokenSink): void => {
    if (preTokenizer.scanner !== undefined && safeSplit === undefined) {
      encodeWords(source, sink, preTokenizer.scanner)
      return
    }
    let pieces = preTokenizer.cut(source)
    if (safeSplit !== undefined) pieces = splitPieces(pieces, safeSplit, 'isolated', false)
    const { texts, starts } = pieces
    const units = wordReader.read(pieces.source.text)
    for (let index = 0; index < texts.length; index++) {
      const start = starts[index]!
      sink.pushWord(encodeWord(units, start, start + texts[index]!.length), pieces.source, start)
    }
  }

  /** The usual case, without an intermediate list of words. */
  const encodeWords = (source: AlignedText, sink: TokenSink, wordEnd: WordScanner): void => {
    const units = wordReader.read(source.text)
    for (let start = 0; start < units.length; ) {
      const end = wordEnd(units, start)
      sink.pushWord(encodeWord(units, start, end), source, start)
      start = end
    }
  }

  const partCache = new Map<string, { encoding: Encoding; base: number }>()
  /** If words are only scanned, the tokens of a part do not depend on its position. */
  const encodeRepeated = (section: AlignedText, sink: TokenSink, accept: Accept): void => {
    const { text, base } = section
    if (text.length < minCachedLength || preTokenizer.scanner === undefined || normalizedTokens.size > 0) {
      encodeSection(section, sink, accept)
      return
    }
    const known = partCache.get(text)
    if (known !== undefined) {
      sink.pushAll(known.encoding, sink.textOffset + base - known.base)
      return
    }
    const from = sink.size
    encodeSection(section, sink, accept)
    if (partCache.size >= maxCachedParts) partCache.clear()
    partCache.set(text, { encoding: sink.copy(from), base: sink.textOffset + base })
  }

  const encodeSection = (section: AlignedText, sink: TokenSink, accept: Accept): void => {
    const text = normalize(section)
    if (normalizedTokens.size === 0) {
      encodeText(text, sink)
      return
    }
    const acceptHere: Accept = (token, start, end) =>
      accept(token, originalStart(text, start), originalEnd(text, end - 1))
    for (const { start, end, token } of normalizedTokens.split(text.text, acceptHere)) {
      if (token === undefined) encodeText(slice(text, start, end), sink)
      else sink.push(token.id, originalStart(text, start), originalEnd(text, end - 1))
    }
  }

  return (text, sink, accept, repeats) => {
    const encode = repeats ? encodeRepeated : encodeSection
    // A lone surrogate becomes U+FFFD, one unit for one unit, as in any UTF-8 encoder.
    const wellFormed = text.toWellFormed()
    for (const { start, end, token } of rawTokens.split(wellFormed, accept)) {
      if (token === undefined) encode(plainText(wellFormed.slice(start, end), start), sink, accept)
      else sink.push(token.id, start, end)
    }
  }
}
