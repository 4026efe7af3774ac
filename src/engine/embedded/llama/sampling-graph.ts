import type { ModelShape } from '../../checkpoint/index.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import { type Rotation, rotate } from '../graph/ops/network.ts'
import type { LoraSettings } from './lora.ts'
import { type LookBack, ModelGraph } from './model-graph.ts'

/** Sizes that are known when the graph runs. */
const BATCH = -1
const TIME = -2
const CAPACITY = -3
const PLACES = -4

export function cacheNames(layer: number): { keys: string; values: string } {
  return { keys: `keys ${layer}`, values: `values ${layer}` }
}

export function nextCacheName(name: string): string {
  return `next ${name}`
}

/**
 * One step of sampling: new tokens of several sequences, each behind what its rows of the cache hold. Gives, for the
 * last token of each, the log-probability of every next token and its share at the temperature asked for.
 */
export function samplingGraph(shape: ModelShape, lora: LoraSettings | undefined): Graph {
  const graph = new Graph()
  const model = new ModelGraph(graph, shape, lora)
  const ids = graph.input('ids', [BATCH, TIME], 'int64')
  const lookBack = cachedAttention(model)
  let x = model.embed(ids)
  for (let layer = 0; layer < shape.layers; layer++) x = model.layer(x, layer, lookBack)
  const last = graph.node(
    'Slice',
    [x, ...[-1, Number.MAX_SAFE_INTEGER, 1].map((value) => graph.constant([value], [1], 'int64'))],
    [BATCH, 1, shape.width],
  )
  const scores = model.scores(last)
  graph.output('logprobs', graph.node('LogSoftmax', [scores], scores.shape, { attributes: { axis: -1 } }))
  const coldness = graph.input('inverse temperature', [BATCH, 1, 1])
  const scaled = graph.node('Mul', [scores, coldness], scores.shape)
  graph.output('shares', graph.node('Softmax', [scaled], scores.shape, { attributes: { axis: -1 } }))
  return graph
}

/** Attention through a cache: the kernel appends the new keys and values to it and looks at no more than is filled. */
function cachedAttention(model: ModelGraph): LookBack {
  const { graph, shape } = model
  const { heads, keyValueHeads, headWidth } = shape
  const places = graph.input('places', [BATCH, TIME], 'int64')
  const lastPlaces = graph.input('last places', [BATCH], 'int32')
  const longest = graph.input('longest', [], 'int32')
  const turn = { places, headWidth, ...tables(graph, shape) }
  const cacheShape = [BATCH, keyValueHeads, CAPACITY, headWidth]

  const turned = (x: Tensor, count: number, layer: number, norm: 'q_norm' | 'k_norm'): Tensor =>
    rotate(graph, shape.queryKeyNorm ? normed(x, count, layer, norm) : x, turn)
  const normed = (x: Tensor, count: number, layer: number, norm: 'q_norm' | 'k_norm'): Tensor => {
    // A zero keeps the size that is there.
    const asHeads = graph.constant([0, 0, count, headWidth], [4], 'int64')
    const flat = graph.constant([0, 0, count * headWidth], [3], 'int64')
    const each = graph.node('Reshape', [x, asHeads], [BATCH, TIME, count, headWidth])
    return graph.node('Reshape', [model.headNorm(each, layer, norm), flat], x.shape)
  }

  return (q, k, v, layer) => {
    const names = cacheNames(layer)
    const [found, keys, values] = graph.manyNode(
      'GroupQueryAttention',
      [
        turned(q, heads, layer, 'q_norm'),
        turned(k, keyValueHeads, layer, 'k_norm'),
        v,
        graph.input(names.keys, cacheShape),
        graph.input(names.values, cacheShape),
        lastPlaces,
        longest,
      ],
      [q.shape, cacheShape, cacheShape],
      {
        domain: 'com.microsoft',
        attributes: {
          num_heads: heads,
          kv_num_heads: keyValueHeads,
          scale: { float: 1 / Math.sqrt(headWidth) },
        },
      },
    )
    graph.output(nextCacheName(names.keys), keys!)
    graph.output(nextCacheName(names.values), values!)
    return found!
  }
}

/** Tables are inputs here: they are as long as the cache, which grows. */
function tables(graph: Graph, shape: ModelShape): Pick<Rotation, 'cosines' | 'sines' | 'negatedSines'> {
  const table = [PLACES, shape.headWidth / 2]
  const sines = graph.input('sines', table)
  return { cosines: graph.input('cosines', table), sines, negatedSines: sines }
}
