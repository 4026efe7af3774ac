import type { Observe } from '../../../base/progress/index.ts'
import type { EventLoopYielder } from './event-loop-yielder.ts'
import { PairQueue } from './pair-queue.ts'
import { PairTable } from './pair-table.ts'
import { SymbolWords } from './symbol-words.ts'

export interface LearnedMerges {
  /** Every token of the model by id: the initial tokens, then the merged ones. */
  tokens: string[]
  /** Pairs of token texts in merge order. */
  merges: Array<[string, string]>
}

/**
 * Byte-pair encoding: repeatedly merges the most frequent adjacent pair into one token. Only the words that contain
 * the pair are updated, so a merge costs what it changes and not a full recount.
 *
 * The order is that of the Rust library: higher count, then lower left id, then lower right id. No two merges produce
 * the same token: a merge is applied everywhere at once, so the same letters always become one token in the same
 * steps.
 */
export async function learnMerges(options: {
  words: readonly string[]
  counts: readonly number[]
  /** The initial tokens by id. */
  tokens: readonly string[]
  /** The token id of each byte. */
  symbolOfByte: readonly number[]
  /** Target number of tokens. */
  size: number
  minimumFrequency: number
  observe: Observe | undefined
  yielder: EventLoopYielder
}): Promise<LearnedMerges> {
  const { size, observe, yielder } = options
  const words = new SymbolWords(options.words, options.counts, options.symbolOfByte)
  const table = new PairTable()
  words.countPairs(table)
  const queue = new PairQueue(table, options.minimumFrequency)
  for (let pair = 0; pair < table.size; pair++) queue.push(pair)

  const tokens = [...options.tokens]
  const merges: Array<[string, string]> = []
  const report = (): void =>
    observe?.({
      stage: 'merge',
      done: merges.length,
      total: size - options.tokens.length,
      unit: 'tokens',
    })

  while (tokens.length < size) {
    const pair = queue.pop()
    if (pair === undefined) break
    const left = table.left[pair]!
    const right = table.right[pair]!
    merges.push([tokens[left]!, tokens[right]!])
    const merged = tokens.push(tokens[left]! + tokens[right]!) - 1

    const grown = new Set<number>()
    for (const word of table.takeWords(pair)) {
      words.merge(word, { left, right, merged }, table, (other) => grown.add(other))
    }
    for (const other of grown) queue.push(other)
    if (!yielder.due) continue
    report()
    await yielder.yieldNow()
  }
  report()
  return { tokens, merges }
}
