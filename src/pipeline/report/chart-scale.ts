/** About `about` round numbers that cover a range. */
export function niceTicks(low: number, high: number, about: number): number[] {
  const span = high - low
  if (!(span > 0)) return [low]
  const rough = span / about
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!
  const ticks: number[] = []
  const first = Math.floor(low / step + 1e-9)
  // Multiplied, because repeated addition would accumulate rounding errors.
  for (let at = first; at * step < high + step * (1 - 1e-9); at++)
    ticks.push(Number((at * step).toPrecision(12)))
  return ticks
}
