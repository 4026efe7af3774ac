import { hash } from 'node:crypto'

/** A number in [0, 1) that depends only on these parts, on any machine. */
export function fractionOf(...parts: readonly (string | number)[]): number {
  return Number.parseInt(hash('sha256', parts.join('\0'), 'hex').slice(0, 13), 16) / 2 ** 52
}

/** A 31-bit seed that depends only on these parts. */
export function seedOf(...parts: readonly (string | number)[]): number {
  return hash('sha256', parts.join('\0'), 'buffer').readUInt32LE(0) >>> 1
}
