import { hash } from 'node:crypto'

/** A number in [0, 1) that hangs on a seed and a name alone: the same on every machine, in every order. */
export function fractionOf(seed: number, name: string): number {
  return Number.parseInt(hash('sha256', `${seed}\0${name}`, 'hex').slice(0, 13), 16) / 2 ** 52
}
