import type { TrainingExample } from '../../contract.ts'

/** Where an example stands in a batch. */
interface Placed {
  member: number
  row: number
  offset: number
}

/** Examples that go through a graph together, in rows that are filled up to `time` tokens. */
export interface Batch {
  rows: number
  time: number
  placed: Placed[]
  /** Some row holds several examples. */
  packed: boolean
}

const lengthSteps = [32, 64, 128, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 2048, 3072, 4096]
/** Rows are not shorter than this, so that several short examples find room in one. */
const SHORTEST_ROW = 256

function lengthStep(length: number): number {
  return lengthSteps.find((step) => step >= length) ?? Math.ceil(length / 2048) * 2048
}

/**
 * Sorts examples into batches of at most `tokens` tokens, filling included; one example alone may have more. A graph is
 * made for every shape of batch, and making one costs as much as many passes: so there are few lengths of rows, and
 * short examples share a row instead of having shapes of their own.
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

/** The longest first, each into the first row that has room for it, or else into a new one. */
function fillRows(examples: readonly TrainingExample[]): Row[] {
  // The last token is only a target, so a single token teaches nothing.
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
    row.members.push({ member, offset: row.used })
    row.used += length
  }
  return rows
}

/** Shares batches out so that all hands are busy about as long: the largest first, each to who has the least to do. */
export function dealOut(batches: readonly Batch[], hands: number): Batch[][] {
  const shares = Array.from({ length: hands }, (): Batch[] => [])
  const loads = shares.map(() => 0)
  const order = [...batches].sort((left, right) => workOf(right) - workOf(left))
  for (const batch of order) {
    const least = loads.indexOf(Math.min(...loads))
    shares[least]!.push(batch)
    loads[least]! += workOf(batch)
  }
  return shares
}

/** Tokens cost the same each; in attention they also cost as much as the row is long. */
const workOf = ({ rows, time }: Batch): number => rows * time * (1024 + time)
