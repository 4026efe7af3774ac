import type { ModelShape } from '../../checkpoint/index.ts'
import { Graph, type Shape, type Tensor } from '../graph/graph.ts'
import { matmul } from '../graph/ops/matmul.ts'
import { applyRope, type RopeTables } from '../graph/ops/network.ts'
import type { LoraSettings } from './lora.ts'
import { type AttentionFunction, ModelGraph } from './model-graph.ts'

/** Dimensions known only at runtime. */
const ROWS = -1
const TIME = -2
const CAPACITY = -3
const POSITIONS = -4
const BOTH = -5

/** Names of a layer's cache tensors. */
export function cacheNames(layer: number): { keys: string; values: string } {
  return { keys: `keys ${layer}`, values: `values ${layer}` }
}

export function newName(name: string): string {
  return `new ${name}`
}

/**
 * A decoding step: the next token of several sequences, each attending to its cache row. Outputs the log-probability of
 * every next token, its probability at the requested temperature, and the token's keys and values. The cache is only
 * read: the runtime copies every output, and the cache is large.
 */
export function decodeGraph(shape: ModelShape, lora: LoraSettings | undefined): Graph {
  const graph = new Graph()
  const { model, x } = body(graph, shape, lora, { rows: ROWS, time: 1 })
  const scores = model.scores(x)
  graph.output('logprobs', graph.node('LogSoftmax', [scores], scores.shape, { attributes: { axis: -1 } }))
  const inverseTemperature = graph.input('inverse temperature', [ROWS, 1, 1])
  const scaled = graph.node('Mul', [scores, inverseTemperature], scores.shape)
  graph.output('probabilities', graph.node('Softmax', [scaled], scores.shape, { attributes: { axis: -1 } }))
  return graph
}

/** Prefill: several tokens of each sequence; only their keys and values are output. */
export function prefillGraph(shape: ModelShape, lora: LoraSettings | undefined): Graph {
  const graph = new Graph()
  body(graph, shape, lora, { rows: ROWS, time: TIME })
  return graph
}

function body(
  graph: Graph,
  shape: ModelShape,
  lora: LoraSettings | undefined,
  size: { rows: number; time: number },
): { model: ModelGraph; x: Tensor } {
  const model = new ModelGraph(graph, shape, lora)
  const ids = graph.input('ids', [size.rows, size.time], 'int64')
  const attention = cachedAttention(model, size)
  let x = model.embed(ids)
  for (let layer = 0; layer < shape.layers; layer++) x = model.layer(x, layer, attention)
  return { model, x }
}

/** Attention to the cache and causally among the new tokens. */
function cachedAttention(
  model: ModelGraph,
  { rows, time }: { rows: number; time: number },
): AttentionFunction {
  const { graph, shape } = model
  const { heads, keyValueHeads, headWidth } = shape
  const shared = heads / keyValueHeads
  const positions = graph.input('positions', [rows, time], 'int64')
  const rope = { positions, headWidth, ...tables(graph, shape) }
  const cacheMask = graph.input('cache mask', [rows, 1, 1, CAPACITY])
  const causalMask = time === 1 ? undefined : graph.input('causal mask', [TIME, TIME])
  /** New tokens and cache slots. */
  const partSizes = graph.input('part sizes', [2], 'int64')
  const scale = 1 / Math.sqrt(headWidth)

  // In Reshape, 0 keeps the existing size.
  const shaped = (x: Tensor, sizes: number[], known: Shape): Tensor =>
    graph.node('Reshape', [x, graph.constant(sizes, [sizes.length], 'int64')], known)
  const rotated = (x: Tensor, count: number, layer: number, norm: 'q_norm' | 'k_norm'): Tensor => {
    if (!shape.queryKeyNorm) return applyRope(graph, x, rope)
    const each = shaped(x, [0, 0, count, headWidth], [rows, time, count, headWidth])
    return applyRope(
      graph,
      shaped(model.headNorm(each, layer, norm), [0, 0, count * headWidth], x.shape),
      rope,
    )
  }
  /** [rows, heads, time, width]; with one token per row no transpose is needed. */
  const perHead = (x: Tensor, count: number): Tensor => {
    const result = [rows, count, time, headWidth]
    if (time === 1) return shaped(x, [0, count, 1, headWidth], result)
    const each = shaped(x, [0, 0, count, headWidth], [rows, time, count, headWidth])
    return graph.node('Transpose', [each], result, { attributes: { perm: [0, 2, 1, 3] } })
  }

  return (q, k, v, layer) => {
    const names = cacheNames(layer)
    const cacheShape = [rows, keyValueHeads, CAPACITY, headWidth]
    const [keys, values] = [graph.input(names.keys, cacheShape), graph.input(names.values, cacheShape)]
    const newKeys = perHead(rotated(k, keyValueHeads, layer, 'k_norm'), keyValueHeads)
    const newValues = perHead(v, keyValueHeads)
    graph.output(newName(names.keys), newKeys)
    graph.output(newName(names.values), newValues)
    // Grouped-query heads become rows of one matrix product.
    const group = [rows, keyValueHeads, time === 1 ? shared : BOTH, headWidth]
    const queries = shaped(
      perHead(rotated(q, heads, layer, 'q_norm'), heads),
      [0, keyValueHeads, -1, headWidth],
      group,
    )
    const toCache = graph.node(
      'Add',
      [matmul(graph, queries, keys, { transposeSecond: true, scale }), cacheMask],
      [...group.slice(0, -1), CAPACITY],
    )
    const toNew = amongNew(queries, newKeys, group)
    const scores = graph.node('Concat', [toNew, toCache], [...group.slice(0, -1), BOTH], {
      attributes: { axis: 3 },
    })
    const probabilities = graph.node('Softmax', [scores], scores.shape, { attributes: { axis: -1 } })
    const [ofNew, ofCache] = graph.multiOutputNode(
      'Split',
      [probabilities, partSizes],
      [
        [...group.slice(0, -1), time],
        [...group.slice(0, -1), CAPACITY],
      ],
      { attributes: { axis: 3 } },
    )
    const found = graph.node(
      'Add',
      [matmul(graph, ofCache!, values), matmul(graph, ofNew!, newValues)],
      group,
    )
    const asHeads = shaped(found, [0, heads, -1, headWidth], [rows, heads, time, headWidth])
    if (time === 1) return shaped(asHeads, [0, 1, -1], [rows, 1, heads * headWidth])
    const inOrder = graph.node('Transpose', [asHeads], [rows, time, heads, headWidth], {
      attributes: { perm: [0, 2, 1, 3] },
    })
    return shaped(inOrder, [0, 0, -1], [rows, time, heads * headWidth])
  }

  function amongNew(queries: Tensor, newKeys: Tensor, group: number[]): Tensor {
    const scores = matmul(graph, queries, newKeys, { transposeSecond: true, scale })
    if (causalMask === undefined) return scores
    const each = shaped(scores, [0, heads, -1, 0], [rows, heads, TIME, TIME])
    const biased = graph.node('Add', [each, causalMask], each.shape)
    return shaped(biased, [0, keyValueHeads, -1, 0], [...group.slice(0, -1), TIME])
  }
}

/** The tables are inputs, because they are as long as the cache, which grows. */
function tables(graph: Graph, shape: ModelShape): Pick<RopeTables, 'cosines' | 'sines' | 'negatedSines'> {
  const table = [POSITIONS, shape.headWidth / 2]
  const sines = graph.input('sines', table)
  return { cosines: graph.input('cosines', table), sines, negatedSines: sines }
}
