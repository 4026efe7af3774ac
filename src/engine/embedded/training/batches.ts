import type { TrainingExample } from '../../contract.ts'

/** An example and its position in a batch. */
interface Placed {
  example: TrainingExample
  /** Its index among all examples of the pass. */
  member: number
  row: number
  offset: number
}

/** Examples that go through a graph together, in rows padded to `time` tokens. */
export interface Batch {
  rows: number
  time: number
  placed: Placed[]
  /** Some row contains several examples. */
  packed: boolean
}

const lengthSteps = [32, 64, 128, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 2048, 3072, 4096]
/** Minimum row length, so that several short examples fit in one. */
const SHORTEST_ROW = 256

function lengthStep(length: number): number {
  return lengthSteps.find((step) => step >= length) ?? Math.ceil(length / 2048) * 2048
}

/**
 * Batch planner: groups examples into batches of at most `tokens` tokens, padding included; a single example may be
 * longer. Each batch shape needs its own graph, which costs as much as many passes to build, so there are few row
 * lengths, and short examples are packed into shared rows.
 */
export function planBatches(examples: readonly TrainingExample[], tokens: number): Batch[] {
  const rowsByTime = new Map<number, Row[]>()
  for (const row of fillRows(examples)) {
    const others = rowsByTime.get(row.time)
    if (others === undefined) rowsByTime.set(row.time, [row])
    else others.push(row)
  }
  const batches: Batch[] = []
  for (const [time, all] of rowsByTime) {
    const most = 2 ** Math.max(0, Math.floor(Math.log2(tokens / time)))
    for (let from = 0; from < all.length; ) {
      const rows = Math.min(most, 2 ** Math.ceil(Math.log2(all.length - from)))
      const taken = all.slice(from, from + rows)
      batches.push({
        rows,
        time,
        placed: taken.flatMap(({ members }, row) => members.map((each) => ({ ...each, row }))),
        packed: taken.some(({ members }) => members.length > 1),
      })
      from += rows
    }
  }
  return batches
}

interface Row {
  time: number
  used: number
  members: Omit<Placed, 'row'>[]
}

/** First-fit decreasing bin packing. */
function fillRows(examples: readonly TrainingExample[]): Row[] {
  // The last token is only a target, so a single token cannot be trained on.
  const lengthOf = (index: number): number => examples[index]!.tokens.length - 1
  const order = [...examples.keys()].filter((index) => lengthOf(index) > 0)
  order.sort((left, right) => lengthOf(right) - lengthOf(left) || left - right)
  const total = order.reduce((sum, member) => sum + lengthOf(member), 0)
  const shortest = Math.min(SHORTEST_ROW, lengthStep(total))
  const rows: Row[] = []
  for (const member of order) {
    const length = lengthOf(member)
    let row = rows.find(({ time, used }) => time - used >= length)
    if (row === undefined) {
      row = { time: Math.max(shortest, lengthStep(length)), used: 0, members: [] }
      rows.push(row)
    }
    row.members.push({ example: examples[member]!, member, offset: row.used })
    row.used += length
  }
  return rows
}

/** Balances batches over threads: the largest first, each to the thread with the least work. */
export function balanceBatches(batches: readonly Batch[], threads: number): Batch[][] {
  const assignments = Array.from({ length: threads }, (): Batch[] => [])
  const loads = assignments.map(() => 0)
  const order = [...batches].sort((left, right) => workOf(right) - workOf(left))
  for (const batch of order) {
    const least = loads.indexOf(Math.min(...loads))
    assignments[least]!.push(batch)
    loads[least]! += workOf(batch)
  }
  return assignments
}

/** A constant cost per token, plus attention, which is proportional to the row length. */
const workOf = ({ rows, time }: Batch): number => rows * time * (1024 + time)
