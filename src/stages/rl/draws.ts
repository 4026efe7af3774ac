import { fractionOf } from '../../base/random/index.ts'

/** The seed of one rollout. `draw` tells apart two groups of one task in the same step. */
export function rolloutSeed(
  seed: number,
  step: number,
  draw: number,
  taskId: string,
  number: number,
): number {
  return Math.floor(fractionOf('rollout', seed, step, draw, taskId, number) * 2 ** 31)
}
