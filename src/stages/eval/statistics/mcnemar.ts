/**
 * McNemar's test of two solvers on the same tasks, from the tasks that only one of them solved: the chance of a split
 * at least as uneven if each were a coin's throw. Exact for any number, so there is no approximation to outgrow.
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
