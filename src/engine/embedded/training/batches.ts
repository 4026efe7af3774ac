import type { TrainingExample } from '../../contract.ts'

/** Examples that go through a graph together, each in a row of its own that is filled up to `time` tokens. */
export interface Batch {
  rows: number
  time: number
  /** Numbers of the examples; fewer than `rows` where rows stay empty. */
  members: number[]
}

/** Four steps to each doubling: few enough that graphs are used again, close enough that little is filled up. */
function lengthStep(length: number): number {
  const step = Math.max(16, 2 ** Math.floor(Math.log2(length - 1)) / 4)
  return Math.ceil(length / step) * step
}

/** All rows that fit, or in the last batch as many quarters of them as are needed. */
function rowStep(needed: number, most: number): number {
  const quarter = Math.ceil(most / 4)
  return Math.min(most, Math.ceil(needed / quarter) * quarter)
}

/**
 * Sorts examples into batches of at most `tokens` tokens, filling included; one example alone may have more. The longest
 * come first, so that each batch holds examples of about one length, and all but the last have as many rows as fit: a
 * graph is made for every shape of batch, and making one costs as much as many passes.
 */
export function planBatches(examples: readonly TrainingExample[], tokens: number): Batch[] {
  const lengthOf = (index: number): number => examples[index]!.tokens.length - 1
  // The last token is only a target, so a single token teaches nothing.
  const order = [...examples.keys()].filter((index) => lengthOf(index) > 0)
  order.sort((left, right) => lengthOf(right) - lengthOf(left) || left - right)
  const batches: Batch[] = []
  for (let from = 0; from < order.length; ) {
    const time = lengthStep(lengthOf(order[from]!))
    const rows = rowStep(order.length - from, Math.max(1, Math.floor(tokens / time)))
    batches.push({ rows, time, members: order.slice(from, from + rows) })
    from += rows
  }
  return batches
}
