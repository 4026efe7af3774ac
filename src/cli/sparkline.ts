const heights = '▁▂▃▄▅▆▇█'

/** A row of small bars, one per value; with more values than bars, each bar is a mean. */
export function sparkline(values: readonly number[], width = 40): string {
  const finite = values.filter(Number.isFinite)
  if (finite.length === 0) return ''
  const places = Math.min(width, finite.length)
  const means = Array.from({ length: places }, (_, place) => {
    const part = finite.slice(
      Math.floor((place * finite.length) / places),
      Math.floor(((place + 1) * finite.length) / places),
    )
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
  const low = Math.min(...means)
  const span = Math.max(...means) - low
  return means
    .map((value) => heights[span === 0 ? 0 : Math.round(((value - low) / span) * (heights.length - 1))])
    .join('')
}
