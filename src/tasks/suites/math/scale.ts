/** The parameters of a level. Pairs are lowest and highest values. */
interface Scale {
  steps: number
  /** The first number of the story. */
  start: readonly [number, number]
  distractors: readonly [number, number]
  /** The time span of the story: short at low levels, long where numbers are large. */
  span: 'short' | 'long'
  /** Some counts are made divisible by one of these, so that exact shares exist. */
  divisors: readonly number[]
}

export const mathLevels = [1, 6] as const

const scales: readonly Scale[] = [
  {
    ...{ steps: 2, start: [60, 900], distractors: [0, 1], span: 'short' },
    divisors: [1, 2, 4, 5, 6, 10, 12],
  },
  {
    ...{ steps: 3, start: [1_000, 9_900], distractors: [0, 1], span: 'short' },
    divisors: [1, 4, 12, 20, 24, 50],
  },
  {
    ...{ steps: 4, start: [4_000, 60_000], distractors: [1, 2], span: 'long' },
    divisors: [1, 12, 20, 60, 100],
  },
  {
    ...{ steps: 5, start: [10_000, 200_000], distractors: [1, 2], span: 'long' },
    divisors: [1, 12, 60, 100, 120],
  },
  {
    ...{ steps: 6, start: [40_000, 700_000], distractors: [1, 3], span: 'long' },
    divisors: [1, 24, 60, 120, 200],
  },
  {
    ...{ steps: 7, start: [100_000, 2_000_000], distractors: [2, 3], span: 'long' },
    divisors: [1, 36, 120, 200, 600],
  },
]

export const scaleOf = (level: number): Scale =>
  scales[Math.min(Math.max(level, mathLevels[0]), mathLevels[1]) - 1]!

/** Upper limit for counts, for plausibility: nobody packs a billion loaves. */
export const countLimit = 60_000_000
