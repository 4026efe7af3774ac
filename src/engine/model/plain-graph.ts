import type { ModelShape, StoredTensors } from '../checkpoint/index.ts'
import { type Constant, Graph, type Shape, type Tensor } from '../embedded/graph/graph.ts'
import { applyRope, scaledDotProductAttention } from '../embedded/graph/ops/network.ts'
import { MASKED, ropeTables } from '../embedded/llama/causal-attention.ts'
import { type AttentionFunction, ModelGraph } from '../embedded/llama/model-graph.ts'

/** Dimension known only at runtime. */
const TIME = -1

/**
 * The model as a single function with embedded weights: `ids` [1, time] to `logprobs` [1, time, vocabulary], where row i
 * predicts the token after i. Without a KV cache, so that token ids are the only input.
 */
export function plainGraph(shape: ModelShape, weights: StoredTensors): Graph {
  const graph = new Graph()
  const model = new ModelGraph(graph, shape, undefined)
  inlineParameters(graph, weights)
  const ids = graph.input('ids', [1, TIME], 'int64')
  const attention = plainAttention(model, ids)
  let x = model.embed(ids)
  for (let layer = 0; layer < shape.layers; layer++) x = model.layer(x, layer, attention)
  const scores = model.scores(x)
  graph.output('logprobs', graph.node('LogSoftmax', [scores], scores.shape, { attributes: { axis: -1 } }))
  return graph
}

/** Turns the parameters from inputs into constants. */
function inlineParameters(graph: Graph, weights: StoredTensors): void {
  for (const tensor of graph.inputs.splice(0)) {
    graph.constants.push({ ...tensor, type: 'float32', values: weights.get(tensor.name)!.values })
  }
}

function plainAttention(model: ModelGraph, ids: Tensor): AttentionFunction {
  const { graph, shape } = model
  const { heads, keyValueHeads, headWidth } = shape
  const sharing = heads / keyValueHeads
  const { positions, bias } = order(graph, ids)
  const rope = { positions, headWidth, ...tables(graph, shape) }
  // In Reshape, 0 keeps the existing size.
  const shaped = (x: Tensor, sizes: number[], known: Shape): Tensor =>
    graph.node('Reshape', [x, graph.constant(sizes, [sizes.length], 'int64')], known)
  const rotated = (x: Tensor, count: number, layer: number, norm: 'q_norm' | 'k_norm'): Tensor => {
    if (!shape.queryKeyNorm) return applyRope(graph, x, rope)
    const each = shaped(x, [0, 0, count, headWidth], [1, TIME, count, headWidth])
    return applyRope(
      graph,
      shaped(model.headNorm(each, layer, norm), [0, 0, count * headWidth], x.shape),
      rope,
    )
  }
  /** [1, key-value heads, group size, time, width]: shared keys and values are not copied. */
  const perHead = (x: Tensor, count: number): Tensor =>
    graph.node(
      'Transpose',
      [shaped(x, [0, 0, keyValueHeads, count, headWidth], [1, TIME, keyValueHeads, count, headWidth])],
      [1, keyValueHeads, count, TIME, headWidth],
      { attributes: { perm: [0, 2, 3, 1, 4] } },
    )
  return (q, k, v, layer) => {
    const found = scaledDotProductAttention(graph, {
      queries: perHead(rotated(q, heads, layer, 'q_norm'), sharing),
      keys: perHead(rotated(k, keyValueHeads, layer, 'k_norm'), 1),
      values: perHead(v, 1),
      bias,
      scale: 1 / Math.sqrt(headWidth),
    })
    const inOrder = graph.node('Transpose', [found], [1, TIME, keyValueHeads, sharing, headWidth], {
      attributes: { perm: [0, 3, 1, 2, 4] },
    })
    return shaped(inOrder, [0, 0, heads * headWidth], [1, TIME, heads * headWidth])
  }
}

/** Positions and the causal mask. */
function order(graph: Graph, ids: Tensor): { positions: Tensor; bias: Tensor } {
  const int64 = (value: number): Constant => graph.constant(value, [], 'int64')
  const axis = (value: number): Constant => graph.constant([value], [1], 'int64')
  const sizes = graph.node('Shape', [ids], [2], { type: 'int64' })
  const time = graph.node('Gather', [sizes, int64(1)], [], { type: 'int64', attributes: { axis: 0 } })
  const count = graph.node('Range', [int64(0), time, int64(1)], [TIME], { type: 'int64' })
  const row = graph.node('Unsqueeze', [count, axis(0)], [1, TIME], { type: 'int64' })
  const column = graph.node('Unsqueeze', [count, axis(1)], [TIME, 1], { type: 'int64' })
  const isLater = graph.node('Greater', [row, column], [TIME, TIME], { type: 'bool' })
  const bias = graph.node('Where', [isLater, graph.constant(MASKED), graph.constant(0)], [TIME, TIME])
  return { positions: row, bias }
}

function tables(graph: Graph, shape: ModelShape): Record<'cosines' | 'sines' | 'negatedSines', Tensor> {
  const { cosines, sines } = ropeTables(shape, shape.contextLength)
  const table = (name: string, values: Float32Array): Constant => {
    const made: Constant = {
      name,
      shape: [shape.contextLength, shape.headWidth / 2],
      type: 'float32',
      values,
    }
    graph.constants.push(made)
    return made
  }
  const ofSines = table('sines', sines)
  // Only gradients need them negated.
  return { cosines: table('cosines', cosines), sines: ofSines, negatedSines: ofSines }
}
