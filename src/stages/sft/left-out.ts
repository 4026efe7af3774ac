const NAMED = 3

/** What is not trained on, by reason, with the first few by name. */
export class LeftOut {
  readonly #reasons = new Map<string, { count: number; first: string[] }>()

  add(reason: string, id: string): void {
    const entry = this.#reasons.get(reason) ?? { count: 0, first: [] }
    this.#reasons.set(reason, entry)
    entry.count++
    if (entry.first.length < NAMED) entry.first.push(id)
  }

  get total(): number {
    return [...this.#reasons.values()].reduce((sum, { count }) => sum + count, 0)
  }

  /** Reasons and how often, the most frequent first. */
  counts(): [string, number][] {
    const counts = [...this.#reasons].map(([reason, { count }]): [string, number] => [reason, count])
    return counts.sort((left, right) => right[1] - left[1])
  }

  lines(): string[] {
    return this.counts().map(([reason, count]) => {
      const { first } = this.#reasons.get(reason)!
      return `${count} left out: ${reason} (${first.join(', ')}${count > first.length ? ', …' : ''})`
    })
  }
}
