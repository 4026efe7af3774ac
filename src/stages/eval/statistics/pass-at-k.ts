/**
 * The unbiased estimate of pass@k: the probability that at least one of k attempts is correct, given that c of n were. Unlike
 * 1 - (1 - c/n)^k, it has no bias.
 *
 * @example
 * import { passAtK } from 'chain-of-agents'
 *
 * console.log(passAtK(8, 3, 2)) // eight attempts, three correct: the probability that one of two is
 */
export function passAtK(n: number, c: number, k: number): number {
  if (k > n) throw new RangeError(`pass@${k} of ${n} attempts`)
  if (n - c < k) return 1
  let allWrong = 1
  for (let right = 0; right < c; right++) allWrong *= (n - k - right) / (n - right)
  return 1 - allWrong
}
