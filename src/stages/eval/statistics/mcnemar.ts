/**
 * McNemar's exact test of two solvers on the same tasks, from the tasks that only one of them solved: the probability of a split
 * at least as uneven if both were equally good.
 *
 * @example
 * import { mcnemar } from 'chain-of-agents'
 *
 * console.log(mcnemar(24, 6)) // p: 24 tasks solved only by the first solver, 6 only by the second
 */
export function mcnemar(onlyFirst: number, onlySecond: number): number {
  const discordant = onlyFirst + onlySecond
  let logChance = -discordant * Math.LN2
  let tail = 0
  for (let solved = 0; solved <= Math.min(onlyFirst, onlySecond); solved++) {
    tail += Math.exp(logChance)
    logChance += Math.log(discordant - solved) - Math.log(solved + 1)
  }
  return Math.min(1, 2 * tail)
}
