import { inverseFrequencies, type ModelShape, ropeScale } from '../../checkpoint/index.ts'
import type { Graph, Tensor } from '../graph/graph.ts'
import { applyRope, type RopeTables, scaledDotProductAttention } from '../graph/ops/network.ts'
import { concat, reshape, slice, transpose } from '../graph/ops/shape.ts'
import type { AttentionFunction, ModelGraph } from './model-graph.ts'

/** Mask value. Not minus infinity: a fully masked row would become NaN. */
export const MASKED = -1e9

/**
 * Queries are processed in blocks of this many tokens, each with the keys up to its end, so most of the upper triangle is
 * never computed. Smaller blocks save more of it but need more calls.
 */
const BLOCK = 64

/**
 * Causal attention over whole sequences. Sequences are padded on the right, where causality alone hides the padding; with
 * `bias` [rows, 1, time, time] several can share a row.
 */
export function causalAttention(
  model: ModelGraph,
  batch: { rows: number; time: number; positions: Tensor; bias: Tensor | undefined },
): AttentionFunction {
  const { graph, shape } = model
  const { rows, time } = batch
  const { heads, keyValueHeads, headWidth } = shape
  const shared = heads / keyValueHeads
  const rope = rotation(graph, shape, batch.positions, time)
  const biases = new Map<number, Tensor>()

  const rotated = (x: Tensor, count: number, layer: number, norm: 'q_norm' | 'k_norm'): Tensor => {
    let each = reshape(graph, x, [rows, time, count, headWidth])
    if (shape.queryKeyNorm) each = model.headNorm(each, layer, norm)
    return applyRope(graph, reshape(graph, each, [rows, time, count * headWidth]), rope)
  }
  /** Grouped-query heads become additional rows of one matrix product. */
  const biasOf = (from: number, to: number): Tensor => {
    const known = biases.get(from)
    if (known !== undefined) return known
    const made = batch.bias === undefined ? causal(from, to) : sliceBias(batch.bias, from, to)
    biases.set(from, made)
    return made
  }
  const causal = (from: number, to: number): Tensor => {
    const height = to - from
    const values = Array.from({ length: shared * height * to }, (_, index) =>
      index % to > from + (Math.floor(index / to) % height) ? MASKED : 0,
    )
    return graph.constant(values, [shared * height, to])
  }
  const sliceBias = (bias: Tensor, from: number, to: number): Tensor => {
    const part = slice(graph, slice(graph, bias, 2, from, to), 3, 0, to)
    if (shared === 1) return part
    const each = Array.from({ length: shared }, () => part)
    return concat(graph, each, 2)
  }

  return (q, k, v, layer) => {
    const queries = transpose(
      graph,
      reshape(graph, rotated(q, heads, layer, 'q_norm'), [rows, time, keyValueHeads, shared, headWidth]),
      [0, 2, 3, 1, 4],
    )
    const perHead = (x: Tensor): Tensor =>
      transpose(graph, reshape(graph, x, [rows, time, keyValueHeads, headWidth]), [0, 2, 1, 3])
    const keys = perHead(rotated(k, keyValueHeads, layer, 'k_norm'))
    const values = perHead(v)
    const blocks: Tensor[] = []
    for (let from = 0; from < time; from += BLOCK) {
      const to = Math.min(time, from + BLOCK)
      const part = <T>(whole: T, cut: () => T): T => (time <= BLOCK ? whole : cut())
      const found = scaledDotProductAttention(graph, {
        queries: reshape(
          graph,
          part(queries, () => slice(graph, queries, 3, from, to)),
          [rows, keyValueHeads, shared * (to - from), headWidth],
        ),
        keys: part(keys, () => (to === time ? keys : slice(graph, keys, 2, 0, to))),
        values: part(values, () => (to === time ? values : slice(graph, values, 2, 0, to))),
        bias: biasOf(from, to),
        scale: 1 / Math.sqrt(headWidth),
      })
      blocks.push(reshape(graph, found, [rows, keyValueHeads, shared, to - from, headWidth]))
    }
    const together = blocks.length === 1 ? blocks[0]! : concat(graph, blocks, 3)
    return reshape(graph, transpose(graph, together, [0, 3, 1, 2, 4]), [rows * time, heads * headWidth])
  }
}

/** RoPE tables as constants in the graph. */
function rotation(graph: Graph, shape: ModelShape, positions: Tensor, time: number): RopeTables {
  const { cosines, sines } = ropeTables(shape, time)
  const table = (values: Float32Array): Tensor => graph.constant([...values], [time, shape.headWidth / 2])
  return {
    positions,
    cosines: table(cosines),
    sines: table(sines),
    negatedSines: table(sines.map((value) => -value)),
    headWidth: shape.headWidth,
  }
}

/** Cosines and sines for each position (row) and pair (column). */
export function ropeTables(shape: ModelShape, time: number): { cosines: Float32Array; sines: Float32Array } {
  const frequencies = inverseFrequencies(shape)
  const scale = ropeScale(shape)
  const pairs = frequencies.length
  const cosines = new Float32Array(time * pairs)
  const sines = new Float32Array(time * pairs)
  for (let position = 0; position < time; position++) {
    for (let pair = 0; pair < pairs; pair++) {
      const angle = position * frequencies[pair]!
      cosines[position * pairs + pair] = Math.cos(angle) * scale
      sines[position * pairs + pair] = Math.sin(angle) * scale
    }
  }
  return { cosines, sines }
}
