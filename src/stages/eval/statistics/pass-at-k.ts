/**
 * The chance that at least one of k attempts is right, from n of which c were: one less the chance that k drawn without
 * replacement are all wrong. Without bias, unlike 1 - (1 - c/n)^k.
 */
export function passAtK(n: number, c: number, k: number): number {
  if (k > n) throw new RangeError(`pass@${k} of ${n} attempts`)
  if (n - c < k) return 1
  let allWrong = 1
  for (let right = 0; right < c; right++) allWrong *= (n - k - right) / (n - right)
  return 1 - allWrong
}
