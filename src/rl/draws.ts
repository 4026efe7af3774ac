import { hash } from 'node:crypto'

/** A number in [0, 1) that hangs on these parts alone: the same on every machine, in every order. */
export function fractionOf(...parts: readonly (string | number)[]): number {
  return Number.parseInt(hash('sha256', parts.join('\0'), 'hex').slice(0, 13), 16) / 2 ** 52
}

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
