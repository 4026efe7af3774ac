import type { PairTable } from './pair-table.ts'

/**
 * The most frequent pair first; of equally frequent ones, that with the lower left id, then the lower right id, as
 * the Rust library has it. A binary heap whose entries keep the count of the day they were pushed: looking again
 * when an entry comes out is cheaper than moving it at every change of its count.
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

  /** To be called whenever a pair's count has grown; counts may shrink unannounced. */
  push(pair: number): void {
    const count = this.#table.count[pair]!
    if (count < this.#minimum) return
    let place = this.#pairs.length
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#before(count, pair, parent)) break
      this.#move(parent, place)
      place = parent
    }
    this.#pairs[place] = pair
    this.#counts[place] = count
  }

  /** The next pair to merge, or undefined when none is frequent enough. */
  pop(): number | undefined {
    while (this.#pairs.length > 0) {
      const pair = this.#pairs[0]!
      const count = this.#counts[0]!
      this.#removeFirst()
      const now = this.#table.count[pair]!
      if (now === count) return pair
      // A count that has grown was pushed then, so only a smaller one has to go back.
      if (now < count) this.push(pair)
    }
    return undefined
  }

  #removeFirst(): void {
    const pair = this.#pairs.pop()!
    const count = this.#counts.pop()!
    const size = this.#pairs.length
    if (size === 0) return
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= size) break
      if (child + 1 < size && this.#before(this.#counts[child + 1]!, this.#pairs[child + 1]!, child)) child++
      if (this.#before(count, pair, child)) break
      this.#move(child, place)
      place = child
    }
    this.#pairs[place] = pair
    this.#counts[place] = count
  }

  #move(from: number, to: number): void {
    this.#pairs[to] = this.#pairs[from]!
    this.#counts[to] = this.#counts[from]!
  }

  #before(count: number, pair: number, place: number): boolean {
    const otherCount = this.#counts[place]!
    if (count !== otherCount) return count > otherCount
    const other = this.#pairs[place]!
    const { left, right } = this.#table
    return left[pair] === left[other] ? right[pair]! < right[other]! : left[pair]! < left[other]!
  }
}
