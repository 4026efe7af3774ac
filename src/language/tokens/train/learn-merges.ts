import type { Observe } from '../../../base/progress/index.ts'
import type { Breather } from './breather.ts'
import { PairQueue } from './pair-queue.ts'
import { PairTable } from './pair-table.ts'
import { SymbolWords } from './symbol-words.ts'

export interface LearnedMerges {
  /** Every token of the model by id: what it was given, then what merging made. */
  tokens: string[]
  /** Pairs of token texts in the order in which they are to be joined. */
  merges: Array<[string, string]>
}

/**
 * Byte-pair encoding: again and again the most frequent pair of neighbours becomes one token. Only the words that
 * hold the pair are touched, so a merge costs what it changes and not a count of everything.
 *
 * The order is that of the Rust library: the higher count, then the lower left id, then the lower right id. No two
 * merges spell the same token: a merge is made everywhere at once, so letters that stand alone become one token in
 * the same steps wherever they stand.
 */
export async function learnMerges(options: {
  words: readonly string[]
  counts: readonly number[]
  /** The tokens there are before the first merge, by id. */
  tokens: readonly string[]
  /** The id of each byte's token. */
  symbolOfByte: readonly number[]
  /** Tokens wanted in all. */
  size: number
  minimumFrequency: number
  observe: Observe | undefined
  breather: Breather
}): Promise<LearnedMerges> {
  const { size, observe, breather } = options
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
    if (!breather.due) continue
    report()
    await breather.breathe()
  }
  report()
  return { tokens, merges }
}
