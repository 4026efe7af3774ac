import type { Equality } from './algebra.ts'

/** Conjunction: one `unequal` decides; otherwise one `unknown` makes the result unknown. */
export async function every(comparisons: Iterable<() => Promise<Equality>>): Promise<Equality> {
  let result: Equality = 'equal'
  for (const compare of comparisons) {
    const equality = await compare()
    if (equality === 'unequal') return 'unequal'
    if (equality === 'unknown') result = 'unknown'
  }
  return result
}

/**
 * Whether both lists contain the same items in any order, ignoring repetitions: each item has an equal on the other
 * side. Unknown for long lists, because every pair is compared.
 */
export async function sameItems<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => Promise<Equality>,
): Promise<Equality> {
  if (left.length * right.length > 900) return 'unknown'
  const table: Equality[][] = []
  for (const a of left) {
    const row: Equality[] = []
    for (const b of right) row.push(await compare(a, b))
    table.push(row)
  }
  const columns = right.map((_, column) => table.map((row) => row[column]!))
  let result: Equality = 'equal'
  for (const line of [...table, ...columns]) {
    if (line.includes('equal')) continue
    if (!line.includes('unknown')) return 'unequal'
    result = 'unknown'
  }
  return result
}
