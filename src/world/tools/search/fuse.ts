/** The usual constant of reciprocal rank fusion: it keeps the first place of one list from dominating. */
const K = 60

/** Reciprocal rank fusion of several rankings. */
export function fuseRanks<T>(lists: readonly (readonly T[])[], idOf: (item: T) => string): T[] {
  const scores = new Map<string, { item: T; score: number }>()
  for (const list of lists) {
    for (const [rank, item] of list.entries()) {
      const id = idOf(item)
      const entry = scores.get(id) ?? { item, score: 0 }
      entry.score += 1 / (K + rank + 1)
      scores.set(id, entry)
    }
  }
  return [...scores.values()].sort((left, right) => right.score - left.score).map(({ item }) => item)
}
