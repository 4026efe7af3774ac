/** One metric of a benchmark. If it has a goal, `met` says whether this run reached it. */
export interface BenchResult {
  name: string
  value: number
  unit: string
  goal?: string
  met?: boolean
  note?: string
}

/** Runs both sides alternately, `rounds` times, and returns the fastest time of each, to reduce noise. */
export function raceMs(rounds: number, left: () => void, right: () => void): { left: number; right: number } {
  const best = { left: Number.POSITIVE_INFINITY, right: Number.POSITIVE_INFINITY }
  const time = (work: () => void): number => {
    const start = performance.now()
    work()
    return performance.now() - start
  }
  for (let round = 0; round < rounds; round++) {
    best.left = Math.min(best.left, time(left))
    best.right = Math.min(best.right, time(right))
  }
  return best
}
