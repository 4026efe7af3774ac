export interface RateSettings {
  learning_rate: number
  warmup_steps: number
  final_share: number
  steps: number
}

/**
 * The learning rate of a step, from 1: up in a straight line, then down in one to its last share. Adam's steps are as long
 * for noise as for what is there to learn; late in a run, when few groups still differ, a constant rate only shakes the model.
 */
export function rateAt(
  step: number,
  { learning_rate, warmup_steps, final_share, steps }: RateSettings,
): number {
  if (step < warmup_steps) return (learning_rate * step) / warmup_steps
  const first = Math.max(1, warmup_steps)
  const way = Math.min(1, (step - first) / Math.max(1, steps - first))
  return learning_rate * (1 + (final_share - 1) * way)
}
