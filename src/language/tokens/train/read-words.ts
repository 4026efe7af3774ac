import type { Observe } from '../../../base/progress/index.ts'
import { AddedTokenFinder } from '../added-tokens.ts'
import { plainText } from '../aligned-text.ts'
import { createPreTokenizer, type PreTokenizer } from '../pre-tokenize.ts'
import { AddedToken, type TokenizerJson } from '../tokenizer-json.ts'
import type { EventLoopYielder } from './event-loop-yielder.ts'
import { WordCounter } from './word-counter.ts'

export interface ReadWords {
  /** Distinct words and their counts. */
  words: readonly string[]
  counts: readonly number[]
  texts: number
  /** In UTF-16 units. */
  characters: number
  /** Number of words skipped because they are too long. */
  tooLong: number
  /** Number of distinct words dropped because there were too many. */
  forgotten: number
}

/** Longer texts are processed in parts, so that the list of words need not fit in memory. */
const partLength = 1 << 20
/**
 * Where a text may be split: after a newline, before a non-space. The default pattern splits there anyway; another
 * one may treat a line end differently once in a million characters.
 */
const partEnd = /\n(?=\S)/g

/**
 * Counts the words of texts, split exactly as the finished tokenizer will split them. Control tokens and tags are
 * removed first: their letters would otherwise cause merges that encoding never uses.
 */
export async function readWords(
  texts: Iterable<string> | AsyncIterable<string>,
  json: Pick<TokenizerJson, 'pre_tokenizer' | 'added_tokens'>,
  options: {
    longestWord: number
    mostWords: number
    observe: Observe | undefined
    yielder: EventLoopYielder
  },
): Promise<ReadWords> {
  const { longestWord, yielder, observe } = options
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
        if (!yielder.due) continue
        report()
        await yielder.yieldNow()
      }
    }
    read.texts++
    read.characters += text.length
    if (yielder.due) await yielder.yieldNow()
  }
  report()
  return { words: counter.words, counts: counter.counts, forgotten: counter.forgotten, ...read }
}

/** Counts the words of a text and returns how many were too long. */
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
