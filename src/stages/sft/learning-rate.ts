/** Of the largest rate, at a step counted from 1: up in a line, then down along half a cosine to `final`. */
export function rateShare(
  step: number,
  total: number,
  { warmup, final }: { warmup: number; final: number },
): number {
  const rising = Math.ceil(warmup * total)
  if (step <= rising) return step / rising
  const fallen = (step - rising) / (total - rising)
  return final + ((1 - final) * (1 + Math.cos(Math.PI * fallen))) / 2
}
