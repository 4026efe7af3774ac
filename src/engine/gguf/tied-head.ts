import { elementCount } from '../checkpoint/element-types.ts'
import { type GgufTensor, readGgufRows } from './read-gguf.ts'
import { bitsPerValue } from './tensor-types.ts'

/** How an output head relates to the embedding. */
export interface HeadComparison {
  isCopy: boolean
  /** Median over rows of the distance between the two, relative to the row's length. */
  distance: number
  /** The one stored with more bits per value; the embedding if both are alike. */
  better: GgufTensor
}

/**
 * Whether the output head is a second copy of the embedding, possibly quantized differently, as some converters write for
 * models that tie the two. Decided by content: every row must be as close to its counterpart as rounding to the coarser
 * of the two types leaves it. Rows of separately trained matrices differ by about 1.4 times their length.
 */
export function compareHead(path: string, embedding: GgufTensor, head: GgufTensor): HeadComparison {
  const better = bitsPerValue(head.type) > bitsPerValue(embedding.type) ? head : embedding
  if (String(embedding.shape) !== String(head.shape)) return { isCopy: false, distance: Number.NaN, better }
  const rows = rowDistances(path, embedding, head)
  const typical = median(rows.lengths)
  // Rows of unused tokens are nearly zero, and what rounding leaves of them says nothing.
  const distances = rows.distances.filter((_, row) => rows.lengths[row]! > typical / 100).sort()
  const bound = 2 * (roundingError(embedding.type) + roundingError(head.type))
  const [middle, nearlyAll] = [0.5, 0.999].map((share) => distances[Math.floor(share * distances.length)]!)
  const isCopy = middle! <= bound && nearlyAll! <= 2 * bound && distances.at(-1)! < 0.5
  return { isCopy, distance: middle!, better }
}

/** Typical length of the rounding error of a row, relative to its length: half the bits' steps over about ±2.5 deviations. */
function roundingError(type: string): number {
  return type === 'F32' ? 1e-6 : type === 'F16' ? 5e-4 : type === 'BF16' ? 3e-3 : 1.5 * 2 ** -levelBits(type)
}

function levelBits(type: string): number {
  return Number(/^Q(\d)/.exec(type)?.[1])
}

function rowDistances(path: string, embedding: GgufTensor, head: GgufTensor) {
  const width = embedding.shape.at(-1)!
  const count = elementCount(embedding.shape) / width
  const [distances, lengths] = [new Float64Array(count), new Float64Array(count)]
  const others = readGgufRows(path, head)
  let row = 0
  for (const part of readGgufRows(path, embedding)) {
    const other = others.next().value as Float32Array
    for (let start = 0; start < part.length; start += width, row++) {
      let [apart, squares] = [0, 0]
      for (let at = start; at < start + width; at++) {
        const [one, two] = [part[at]!, other[at]!]
        apart += (one - two) ** 2
        squares += Math.max(one * one, two * two)
      }
      lengths[row] = Math.sqrt(squares)
      distances[row] = Math.sqrt(apart / squares)
    }
  }
  return { distances, lengths }
}

function median(values: Float64Array): number {
  return values.toSorted()[values.length >> 1]!
}
