import type { Graph, Tensor } from '../graph.ts'
import { add, multiply, subtract } from './elementwise.ts'
import { product } from './product.ts'
import { expand, reshape, sum, sumTo } from './shape.ts'

/** Softmax over the last axis. */
export function softmax(graph: Graph, x: Tensor): Tensor {
  const last = x.shape.length - 1
  const shares: Tensor = graph.node('Softmax', [x], x.shape, {
    attributes: { axis: -1 },
    gradient: (gradient) => {
      const weighted = multiply(graph, gradient, shares)
      return [subtract(graph, weighted, multiply(graph, shares, sum(graph, weighted, [last])))]
    },
  })
  return shares
}

/** Rows of a table by their numbers: the embedding. Numbers may repeat; their gradients add up. */
export function rowsOf(graph: Graph, table: Tensor, numbers: Tensor): Tensor {
  const [, width] = table.shape as [number, number]
  return graph.node('Gather', [table, numbers], [...numbers.shape, width], {
    attributes: { axis: 0 },
    gradient: (gradient) => {
      const zeros = expand(graph, graph.constant(0), table.shape)
      const places = graph.node(
        'Unsqueeze',
        [numbers, graph.constant([-1], [1], 'int64')],
        [...numbers.shape, 1],
        { type: 'int64' },
      )
      return [
        graph.node('ScatterND', [zeros, places, gradient], table.shape, { attributes: { reduction: 'add' } }),
        undefined,
      ]
    },
  })
}

/**
 * Scales each row to a mean square of 1, and then each column by its weight. With x̂ the scaled row and g the gradient,
 * that of x is (g·w − x̂·mean(g·w·x̂)) / size: written out, because step by step it takes twice the passes over memory.
 */
export function rmsNorm(graph: Graph, x: Tensor, weight: Tensor, epsilon: number): Tensor {
  const last = x.shape.length - 1
  const width = x.shape[last]!
  const column = [...x.shape.slice(0, -1), 1]
  // The second output is one over the size of each row.
  const [result] = graph.manyNode('SimplifiedLayerNormalization', [x, weight], [x.shape, column], {
    attributes: { axis: -1, epsilon: { float: epsilon } },
    gradient: ([, inverseSize]) => {
      return (gradient) => {
        const scaled = multiply(graph, x, inverseSize!)
        const both = multiply(graph, gradient, scaled)
        const mean = product(graph, both, reshape(graph, weight, [width, 1]), { scale: 1 / width })
        const direct = multiply(graph, gradient, weight)
        const along = multiply(graph, scaled, mean)
        return [
          multiply(graph, subtract(graph, direct, along), inverseSize!),
          sumTo(graph, both, weight.shape),
        ]
      }
    },
  })
  return result!
}

/**
 * Turns pairs of each head's entries by angles that grow with the place in the sequence. Turning back is the gradient,
 * so it is the same kernel with the sines negated. `x` is [batch, time, heads · width].
 */
export function rotate(graph: Graph, x: Tensor, turn: Rotation): Tensor {
  const kernel = (input: Tensor, sines: Tensor): Tensor =>
    graph.node('RotaryEmbedding', [input, turn.places, turn.cosines, sines], x.shape, {
      domain: 'com.microsoft',
      attributes: { num_heads: x.shape.at(-1)! / turn.headWidth, rotary_embedding_dim: 0, interleaved: 0 },
      gradient: (gradient) => [
        kernel(gradient, sines === turn.sines ? turn.negatedSines : turn.sines),
        undefined,
        undefined,
        undefined,
      ],
    })
  return kernel(x, turn.sines)
}

/** Tables of [places, headWidth / 2], and the place of each entry of a batch. */
export interface Rotation {
  places: Tensor
  cosines: Tensor
  sines: Tensor
  negatedSines: Tensor
  headWidth: number
}

/**
 * x · sigmoid(x) · other, SwiGLU's middle. With σ = sigmoid(x) and y the result, the gradient of x is
 * g · (σ·(other − y) + y): the fewest passes over memory of the ways to write it.
 */
export function gated(graph: Graph, x: Tensor, other: Tensor): Tensor {
  const share = graph.node('Sigmoid', [x], x.shape)
  const swish = graph.node('Mul', [x, share], x.shape)
  const result: Tensor = graph.node('Mul', [swish, other], x.shape, {
    differentiated: [x, other],
    gradient: (gradient) => {
      const slope = add(graph, multiply(graph, subtract(graph, other, result), share), result)
      return [multiply(graph, gradient, slope), multiply(graph, gradient, swish)]
    },
  })
  return result
}

/**
 * Attention of rows of queries to rows of keys: softmax(scale · Q·Kᵀ + bias) · V over the last two axes. The gradient
 * uses that Σ dP·P over a row is Σ dO·O, which is a far smaller tensor.
 */
export function attend(graph: Graph, { queries, keys, values, bias, scale }: Attention): Tensor {
  const scores = product(graph, queries, keys, { transposeSecond: true, scale })
  const biased = bias === undefined ? scores : graph.node('Add', [scores, bias], scores.shape)
  const shares = graph.node('Softmax', [biased], scores.shape, { attributes: { axis: -1 } })
  const last = scores.shape.length - 1
  const result: Tensor = graph.node(
    'MatMul',
    [shares, values],
    [...queries.shape.slice(0, -1), values.shape.at(-1)!],
    {
      differentiated: [queries, keys, values],
      gradient: (gradient) => {
        const ofShares = product(graph, gradient, values, { transposeSecond: true })
        const along = sum(graph, multiply(graph, gradient, result), [last])
        const ofScores = multiply(graph, shares, subtract(graph, ofShares, along))
        return [
          product(graph, ofScores, keys, { scale }),
          product(graph, ofScores, queries, { transposeFirst: true, scale }),
          product(graph, shares, gradient, { transposeFirst: true }),
        ]
      },
    },
  )
  return result
}

export interface Attention {
  queries: Tensor
  keys: Tensor
  values: Tensor
  /** Added to the scores; what may not be seen has a very large negative number. */
  bias?: Tensor | undefined
  scale: number
}

/**
 * The log-probability of one chosen entry in each row of scores. Its gradient is written out, as softmax minus one at
 * the chosen entry: through log-softmax and selection it would take several passes over the largest tensor there is.
 */
export function chosenLogProbabilities(graph: Graph, scores: Tensor, chosen: Tensor): Tensor {
  const axis = scores.shape.length - 1
  const rowShape = [...chosen.shape, 1]
  const last = graph.constant([-1], [1], 'int64')
  const all = graph.node('LogSoftmax', [scores], scores.shape, { attributes: { axis: -1 } })
  const places = graph.node('Unsqueeze', [chosen, last], rowShape, { type: 'int64' })
  const column = graph.node('GatherElements', [all, places], rowShape, { attributes: { axis } })
  return graph.node('Squeeze', [column, last], chosen.shape, {
    differentiated: [scores],
    gradient: (gradient) => {
      const wide = graph.node('Unsqueeze', [gradient, last], rowShape)
      const spread = multiply(
        graph,
        graph.node('Exp', [all], all.shape),
        graph.node('Neg', [wide], wide.shape),
      )
      const full = graph.node('ScatterElements', [spread, places, wide], scores.shape, {
        attributes: { axis, reduction: 'add' },
      })
      return [full]
    },
  })
}
