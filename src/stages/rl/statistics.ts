export interface Statistics {
  count: number
  mean: number
  /** Unbiased (divided by n − 1); 0 for fewer than two values. */
  std: number
  /** Divided by n. */
  populationStd: number
}

export function statisticsOf(values: readonly number[]): Statistics {
  const count = values.length
  const first = values[0]
  if (first === undefined) return { count, mean: 0, std: 0, populationStd: 0 }
  // Rounding must not create variance where there is none.
  if (values.every((value) => value === first)) return { count, mean: first, std: 0, populationStd: 0 }
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { count, mean, std: Math.sqrt(squares / (count - 1)), populationStd: Math.sqrt(squares / count) }
}
