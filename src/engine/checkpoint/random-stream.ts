import { hash } from 'node:crypto'

/** Integers below 2^32 that depend only on the stream's name: the same on every machine. */
export function randomStream(name: string): () => number {
  const digest = Buffer.from(hash('sha256', name, 'hex'), 'hex')
  return xoshiro(
    digest.readUInt32LE(0),
    digest.readUInt32LE(4),
    digest.readUInt32LE(8),
    digest.readUInt32LE(12),
  )
}

/** xoshiro128** by Blackman and Vigna; the state must not be all zero. */
export function xoshiro(first: number, second: number, third: number, fourth: number): () => number {
  let [a, b, c, d] = [first, second, third, fourth]
  return () => {
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotated(d, 11)
    return result
  }
}

function rotated(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}
