import { createHash } from 'node:crypto'

/** A seed that follows from others, and is unlike that of every other list. */
export function seedOf(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(parts.join('\0')).digest().readUInt32LE(0) >>> 1
}

/** Each request of a rollout draws on its own. */
export function turnSeed(seed: number, request: number): number {
  return seedOf('turn', seed, request)
}
