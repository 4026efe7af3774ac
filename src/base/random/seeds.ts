import { hash } from 'node:crypto'

/** A number in [0, 1) that depends on these parts alone: the same on every machine, in every order. */
export function fractionOf(...parts: readonly (string | number)[]): number {
  return Number.parseInt(hash('sha256', parts.join('\0'), 'hex').slice(0, 13), 16) / 2 ** 52
}

/** A seed of 31 bits that depends on these parts alone. */
export function seedOf(...parts: readonly (string | number)[]): number {
  return hash('sha256', parts.join('\0'), 'buffer').readUInt32LE(0) >>> 1
}
