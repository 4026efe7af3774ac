import type { ModelShape } from '../../checkpoint/index.ts'
import { Graph, type Shape, type Tensor } from '../graph/graph.ts'
import { type Rotation, rotate } from '../graph/ops/network.ts'
import { product } from '../graph/ops/product.ts'
import type { LoraSettings } from './lora.ts'
import { type LookBack, ModelGraph } from './model-graph.ts'

/** Sizes that are known when a graph runs. */
const ROWS = -1
const TIME = -2
const CAPACITY = -3
const PLACES = -4
const BOTH = -5

/** The cache of a layer, and what a step adds to it. */
export function cacheNames(layer: number): { keys: string; values: string } {
  return { keys: `keys ${layer}`, values: `values ${layer}` }
}

export function newName(name: string): string {
  return `new ${name}`
}

/**
 * One step of sampling: the next token of several sequences, each behind what its row of the cache holds. Gives the
 * log-probability of every token that could follow, its share at the temperature asked for, and the keys and values of
 * the token. The cache is only read: the runtime copies whatever it hands out, and the cache is large.
 */
export function stepGraph(shape: ModelShape, lora: LoraSettings | undefined): Graph {
  const graph = new Graph()
  const { model, x } = body(graph, shape, lora, { rows: ROWS, time: 1 })
  const scores = model.scores(x)
  graph.output('logprobs', graph.node('LogSoftmax', [scores], scores.shape, { attributes: { axis: -1 } }))
  const coldness = graph.input('inverse temperature', [ROWS, 1, 1])
  const scaled = graph.node('Mul', [scores, coldness], scores.shape)
  graph.output('shares', graph.node('Softmax', [scaled], scores.shape, { attributes: { axis: -1 } }))
  return graph
}

/** Reads several tokens of each sequence: only their keys and values are of interest. */
export function readingGraph(shape: ModelShape, lora: LoraSettings | undefined): Graph {
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
  const lookBack = cachedAttention(model, size)
  let x = model.embed(ids)
  for (let layer = 0; layer < shape.layers; layer++) x = model.layer(x, layer, lookBack)
  return { model, x }
}

/** Attention to what the cache holds and, among the new tokens, to those before. */
function cachedAttention(model: ModelGraph, { rows, time }: { rows: number; time: number }): LookBack {
  const { graph, shape } = model
  const { heads, keyValueHeads, headWidth } = shape
  const shared = heads / keyValueHeads
  const places = graph.input('places', [rows, time], 'int64')
  const turn = { places, headWidth, ...tables(graph, shape) }
  const filled = graph.input('filled', [rows, 1, 1, CAPACITY])
  const earlier = time === 1 ? undefined : graph.input('earlier', [TIME, TIME])
  /** Places of the cache, and new tokens. */
  const partSizes = graph.input('part sizes', [2], 'int64')
  const scale = 1 / Math.sqrt(headWidth)

  // A zero keeps the size that is there.
  const shaped = (x: Tensor, sizes: number[], known: Shape): Tensor =>
    graph.node('Reshape', [x, graph.constant(sizes, [sizes.length], 'int64')], known)
  const turned = (x: Tensor, count: number, layer: number, norm: 'q_norm' | 'k_norm'): Tensor => {
    if (!shape.queryKeyNorm) return rotate(graph, x, turn)
    const each = shaped(x, [0, 0, count, headWidth], [rows, time, count, headWidth])
    return rotate(graph, shaped(model.headNorm(each, layer, norm), [0, 0, count * headWidth], x.shape), turn)
  }
  /** [rows, heads, time, width]; with one token a head there is nothing to turn around. */
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
    const newKeys = perHead(turned(k, keyValueHeads, layer, 'k_norm'), keyValueHeads)
    const newValues = perHead(v, keyValueHeads)
    graph.output(newName(names.keys), newKeys)
    graph.output(newName(names.values), newValues)
    // The heads that share keys and values stand behind one another as rows of one product.
    const group = [rows, keyValueHeads, time === 1 ? shared : BOTH, headWidth]
    const queries = shaped(
      perHead(turned(q, heads, layer, 'q_norm'), heads),
      [0, keyValueHeads, -1, headWidth],
      group,
    )
    const toCache = graph.node(
      'Add',
      [product(graph, queries, keys, { transposeSecond: true, scale }), filled],
      [...group.slice(0, -1), CAPACITY],
    )
    const toNew = amongNew(queries, newKeys, group)
    const scores = graph.node('Concat', [toNew, toCache], [...group.slice(0, -1), BOTH], {
      attributes: { axis: 3 },
    })
    const shares = graph.node('Softmax', [scores], scores.shape, { attributes: { axis: -1 } })
    const [ofNew, ofCache] = graph.manyNode(
      'Split',
      [shares, partSizes],
      [
        [...group.slice(0, -1), time],
        [...group.slice(0, -1), CAPACITY],
      ],
      { attributes: { axis: 3 } },
    )
    const found = graph.node(
      'Add',
      [product(graph, ofCache!, values), product(graph, ofNew!, newValues)],
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
    const scores = product(graph, queries, newKeys, { transposeSecond: true, scale })
    if (earlier === undefined) return scores
    const each = shaped(scores, [0, heads, -1, 0], [rows, heads, TIME, TIME])
    const biased = graph.node('Add', [each, earlier], each.shape)
    return shaped(biased, [0, keyValueHeads, -1, 0], [...group.slice(0, -1), TIME])
  }
}

/** Tables are inputs here: they are as long as the cache, which grows. */
function tables(graph: Graph, shape: ModelShape): Pick<Rotation, 'cosines' | 'sines' | 'negatedSines'> {
  const table = [PLACES, shape.headWidth / 2]
  const sines = graph.input('sines', table)
  return { cosines: graph.input('cosines', table), sines, negatedSines: sines }
}
