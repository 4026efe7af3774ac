/** Something to be put into a step: its size, and where chance places it among others of its size. */
export interface Dealt {
  index: number
  tokens: number
  at: number
}

/**
 * Deals items out to `count` steps of even size. Items are sorted into buckets of like lengths, as many in each as
 * there are steps, and every step gets one of each bucket, which one by chance. As lengths fall from bucket to bucket,
 * no two steps differ by more tokens than the longest item has.
 */
export function dealEvenly(items: readonly Dealt[], count: number): number[][] {
  const byLength = [...items].sort((left, right) => right.tokens - left.tokens || byChance(left, right))
  const steps = Array.from({ length: count }, (_, step) => ({ step, tokens: 0, items: [] as number[] }))
  for (let from = 0; from < byLength.length; from += count) {
    const bucket = byLength.slice(from, from + count)
    // A bucket that is not full goes to those that have least, its longest to the very least.
    const whole = bucket.length === count
    const takers = whole
      ? steps
      : [...steps].sort((left, right) => left.tokens - right.tokens || left.step - right.step)
    if (whole) bucket.sort(byChance)
    for (const [place, { index, tokens }] of bucket.entries()) {
      takers[place]!.items.push(index)
      takers[place]!.tokens += tokens
    }
  }
  return steps.map((step) => step.items)
}

function byChance(left: Dealt, right: Dealt): number {
  return left.at - right.at || left.index - right.index
}
