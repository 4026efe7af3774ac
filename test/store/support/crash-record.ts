import type { RecordInput } from '../../../src/store/index.ts'

/** A small generator (mulberry32), so that writer and checker can generate the same record from the same numbers. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Between 10 bytes and 1 MB, mostly small; the content depends only on id and version. */
export function crashRecord(id: string, version: number): RecordInput<'task'> {
  let seed = version
  for (const character of id) seed = Math.imul(seed, 31) + character.charCodeAt(0)
  const random = randomFrom(seed)
  const large = random() < 0.04
  const length = Math.round(10 * (large ? 100_000 : 300) ** random())
  const block = Array.from({ length: 24 }, () => 'ab\n"\\é😀 '.charAt(Math.floor(random() * 9))).join('')
  const question = block.repeat(Math.ceil(length / block.length)).slice(0, length)
  return {
    v: 1,
    id,
    suite: 'crash',
    domain: 'd',
    question,
    gold: { checker: 'math', answer: '1' },
    level: version,
  }
}
