import type { Observe } from '../../../base/progress/index.ts'
import { AddedTokenFinder } from '../added-tokens.ts'
import { plainText } from '../aligned-text.ts'
import { createPreTokenizer, type PreTokenizer } from '../pre-tokenize.ts'
import { AddedToken, type TokenizerJson } from '../tokenizer-json.ts'
import type { Breather } from './breather.ts'
import { WordCounter } from './word-counter.ts'

export interface ReadWords {
  /** Different words, with how often each was seen. */
  words: readonly string[]
  counts: readonly number[]
  texts: number
  /** In UTF-16 units. */
  characters: number
  /** Words longer than allowed, left out. */
  tooLong: number
  /** Different words forgotten because there were too many. */
  forgotten: number
}

/** A longer text is worked on in parts, so that the list of its words need not fit into memory. */
const partLength = 1 << 20
/**
 * Where a text may be parted: after a line break, before something that is no space. The default pattern cuts
 * there anyway; another one may see the end of a line differently once in a million characters.
 */
const partEnd = /\n(?=\S)/g

/**
 * Counts the words of texts, cut exactly as the finished tokenizer will cut them. Control tokens and tags are cut
 * out first: their letters would otherwise win merges that encoding never uses.
 */
export async function readWords(
  texts: Iterable<string> | AsyncIterable<string>,
  json: Pick<TokenizerJson, 'pre_tokenizer' | 'added_tokens'>,
  options: { longestWord: number; mostWords: number; observe: Observe | undefined; breather: Breather },
): Promise<ReadWords> {
  const { longestWord, breather, observe } = options
  const preTokenizer = createPreTokenizer(json.pre_tokenizer, { prefix: true })
  const tokens = new AddedTokenFinder(
    (json.added_tokens ?? []).map((value) => {
      const token = AddedToken.parse(value)
      return { content: token.content, token }
    }),
  )
  const counter = new WordCounter(options.mostWords)
  const read = { texts: 0, characters: 0, tooLong: 0 }
  const report = (): void => observe?.({ stage: 'read', done: read.texts, unit: 'texts' })

  for await (const given of texts) {
    const text = given.toWellFormed()
    for (const { start, end, token } of tokens.split(text, () => true)) {
      if (token !== undefined) continue
      for (const part of partsOf(text.slice(start, end))) {
        read.tooLong += countPart(part, preTokenizer, counter, longestWord)
        if (!breather.due) continue
        report()
        await breather.breathe()
      }
    }
    read.texts++
    read.characters += text.length
    if (breather.due) await breather.breathe()
  }
  report()
  return { words: counter.words, counts: counter.counts, forgotten: counter.forgotten, ...read }
}

/** Counts the words of a text and gives back how many were too long. */
function countPart(
  text: string,
  preTokenizer: PreTokenizer,
  counter: WordCounter,
  longestWord: number,
): number {
  let tooLong = 0
  for (const word of preTokenizer.cut(plainText(text, 0)).texts) {
    if (word.length > longestWord) tooLong++
    else counter.add(word)
  }
  return tooLong
}

function* partsOf(text: string): Generator<string> {
  let start = 0
  while (text.length - start > partLength) {
    partEnd.lastIndex = start + partLength
    if (partEnd.exec(text) === null) break
    yield text.slice(start, partEnd.lastIndex)
    start = partEnd.lastIndex
  }
  if (start < text.length) yield start === 0 ? text : text.slice(start)
}
