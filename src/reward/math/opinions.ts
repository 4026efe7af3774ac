import type { Opinion } from './algebra.ts'

/** All must hold: one sure no is enough to refuse, anything open leaves the whole open. */
export async function every(opinions: Iterable<() => Promise<Opinion>>): Promise<Opinion> {
  let result: Opinion = 'equal'
  for (const ask of opinions) {
    const opinion = await ask()
    if (opinion === 'unequal') return 'unequal'
    if (opinion === 'unknown') result = 'unknown'
  }
  return result
}

/**
 * Both lists hold the same things in any order, repetitions aside: each item has an equal on the other side.
 * Long lists are left open, because every pair is compared.
 */
export async function sameItems<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => Promise<Opinion>,
): Promise<Opinion> {
  if (left.length * right.length > 900) return 'unknown'
  const table: Opinion[][] = []
  for (const a of left) {
    const row: Opinion[] = []
    for (const b of right) row.push(await compare(a, b))
    table.push(row)
  }
  const columns = right.map((_, column) => table.map((row) => row[column]!))
  let result: Opinion = 'equal'
  for (const line of [...table, ...columns]) {
    if (line.includes('equal')) continue
    if (!line.includes('unknown')) return 'unequal'
    result = 'unknown'
  }
  return result
}
