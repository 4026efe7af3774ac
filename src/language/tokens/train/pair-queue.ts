import type { PairTable } from './pair-table.ts'

/**
 * The most frequent pair first; ties are broken by the lower left id, then the lower right id, as in the Rust
 * library. A binary heap whose entries keep the count at the time they were pushed: rechecking an entry when it is
 * popped is cheaper than moving it whenever its count changes.
 */
export class PairQueue {
  readonly #table: PairTable
  readonly #minimum: number
  readonly #pairs: number[] = []
  readonly #counts: number[] = []

  constructor(table: PairTable, minimum: number) {
    this.#table = table
    this.#minimum = minimum
  }

  /** Must be called whenever a pair's count has grown; counts may shrink without notice. */
  push(pair: number): void {
    const count = this.#table.count[pair]!
    if (count < this.#minimum) return
    let index = this.#pairs.length
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#before(count, pair, parent)) break
      this.#move(parent, index)
      index = parent
    }
    this.#pairs[index] = pair
    this.#counts[index] = count
  }

  /** The next pair to merge, or undefined if none is frequent enough. */
  pop(): number | undefined {
    while (this.#pairs.length > 0) {
      const pair = this.#pairs[0]!
      const count = this.#counts[0]!
      this.#removeFirst()
      const now = this.#table.count[pair]!
      if (now === count) return pair
      // A grown count was pushed again, so only a smaller one has to be reinserted.
      if (now < count) this.push(pair)
    }
    return undefined
  }

  #removeFirst(): void {
    const pair = this.#pairs.pop()!
    const count = this.#counts.pop()!
    const size = this.#pairs.length
    if (size === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= size) break
      if (child + 1 < size && this.#before(this.#counts[child + 1]!, this.#pairs[child + 1]!, child)) child++
      if (this.#before(count, pair, child)) break
      this.#move(child, index)
      index = child
    }
    this.#pairs[index] = pair
    this.#counts[index] = count
  }

  #move(from: number, to: number): void {
    this.#pairs[to] = this.#pairs[from]!
    this.#counts[to] = this.#counts[from]!
  }

  #before(count: number, pair: number, index: number): boolean {
    const otherCount = this.#counts[index]!
    if (count !== otherCount) return count > otherCount
    const other = this.#pairs[index]!
    const { left, right } = this.#table
    return left[pair] === left[other] ? right[pair]! < right[other]! : left[pair]! < left[other]!
  }
}
