import { hash } from 'node:crypto'

/** A number in [0, 1) that hangs on these parts alone: the same on every machine, in every order. */
export function fractionOf(...parts: readonly (string | number)[]): number {
  return Number.parseInt(hash('sha256', parts.join('\0'), 'hex').slice(0, 13), 16) / 2 ** 52
}
