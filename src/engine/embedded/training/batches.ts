import type { TrainingExample } from '../../contract.ts'

/** Examples that go through a graph together, each in a row of its own that is filled up to `time` tokens. */
export interface Batch {
  rows: number
  time: number
  /** Numbers of the examples; fewer than `rows` where rows stay empty. */
  members: number[]
}

/** Steps of length and of rows: few enough that graphs are used again, close enough that little is filled up. */
const lengthSteps = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096]

export function lengthStep(length: number): number {
  return lengthSteps.find((step) => step >= length) ?? Math.ceil(length / 2048) * 2048
}

/**
 * Sorts examples into batches of at most `tokens` tokens, filling included; one example alone may have more. The order
 * of examples does not matter to the sum of their losses.
 */
export function planBatches(examples: readonly TrainingExample[], tokens: number): Batch[] {
  const byTime = new Map<number, number[]>()
  for (const [index, { tokens: ids }] of examples.entries()) {
    // The last token is only a target.
    if (ids.length < 2) continue
    const time = lengthStep(ids.length - 1)
    const others = byTime.get(time)
    if (others === undefined) byTime.set(time, [index])
    else others.push(index)
  }
  const batches: Batch[] = []
  for (const [time, members] of [...byTime].sort(([left], [right]) => left - right)) {
    const most = 2 ** Math.max(0, Math.floor(Math.log2(tokens / time)))
    for (let from = 0; from < members.length; ) {
      const rows = rowStep(members.length - from, most)
      batches.push({ rows, time, members: members.slice(from, from + rows) })
      from += rows
    }
  }
  return batches
}

/** A power of two: the next one above where it is at least three quarters full, else the one below. */
function rowStep(left: number, most: number): number {
  if (left >= most) return most
  const above = 2 ** Math.ceil(Math.log2(left))
  return left >= 0.75 * above ? above : above / 2
}
