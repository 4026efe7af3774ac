import type { Graph, Tensor } from '../graph.ts'
import { add, multiply, subtract } from './elementwise.ts'
import { matmul } from './matmul.ts'
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

/** Embedding lookup. Indices may repeat; their gradients are summed. */
export function embeddingLookup(graph: Graph, table: Tensor, numbers: Tensor): Tensor {
  const [, width] = table.shape as [number, number]
  return graph.node('Gather', [table, numbers], [...numbers.shape, width], {
    attributes: { axis: 0 },
    gradient: (gradient) => {
      const zeros = expand(graph, graph.constant(0), table.shape)
      const positions = graph.node(
        'Unsqueeze',
        [numbers, graph.constant([-1], [1], 'int64')],
        [...numbers.shape, 1],
        { type: 'int64' },
      )
      return [
        graph.node('ScatterND', [zeros, positions, gradient], table.shape, {
          attributes: { reduction: 'add' },
        }),
        undefined,
      ]
    },
  })
}

/**
 * RMS norm. With x̂ the normalized row and g the gradient, that of x is (g·w − x̂·mean(g·w·x̂)) / rms: fused, because
 * differentiating step by step takes twice the passes over memory.
 */
export function rmsNorm(graph: Graph, x: Tensor, weight: Tensor, epsilon: number): Tensor {
  const last = x.shape.length - 1
  const width = x.shape[last]!
  const column = [...x.shape.slice(0, -1), 1]
  // The second output is 1/rms of each row.
  const [result] = graph.multiOutputNode('SimplifiedLayerNormalization', [x, weight], [x.shape, column], {
    attributes: { axis: -1, epsilon: { float: epsilon } },
    gradient: ([, inverseSize]) => {
      return (gradient) => {
        const scaled = multiply(graph, x, inverseSize!)
        const both = multiply(graph, gradient, scaled)
        const mean = matmul(graph, both, reshape(graph, weight, [width, 1]), { scale: 1 / width })
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
 * Rotary position embedding (RoPE). The gradient is the inverse rotation: the same kernel with the sines negated.
 * `x` is [batch, time, heads · width].
 */
export function applyRope(graph: Graph, x: Tensor, rope: RopeTables): Tensor {
  const kernel = (input: Tensor, sines: Tensor): Tensor =>
    graph.node('RotaryEmbedding', [input, rope.positions, rope.cosines, sines], x.shape, {
      domain: 'com.microsoft',
      attributes: { num_heads: x.shape.at(-1)! / rope.headWidth, rotary_embedding_dim: 0, interleaved: 0 },
      gradient: (gradient) => [
        kernel(gradient, sines === rope.sines ? rope.negatedSines : rope.sines),
        undefined,
        undefined,
        undefined,
      ],
    })
  return kernel(x, rope.sines)
}

/** Tables of [positions, headWidth / 2], and the position of each entry of a batch. */
export interface RopeTables {
  positions: Tensor
  cosines: Tensor
  sines: Tensor
  negatedSines: Tensor
  headWidth: number
}

/**
 * SwiGLU: x · sigmoid(x) · other. With σ = sigmoid(x) and y the result, the gradient of x is g · (σ·(other − y) + y),
 * the form with the fewest passes over memory.
 */
export function swiglu(graph: Graph, x: Tensor, other: Tensor): Tensor {
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
 * Attention: softmax(scale · Q·Kᵀ + bias) · V over the last two axes. The gradient uses that Σ dP·P over a row equals
 * Σ dO·O, which is a far smaller tensor.
 */
export function scaledDotProductAttention(
  graph: Graph,
  { queries, keys, values, bias, scale }: AttentionInputs,
): Tensor {
  const scores = matmul(graph, queries, keys, { transposeSecond: true, scale })
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
        const ofShares = matmul(graph, gradient, values, { transposeSecond: true })
        const along = sum(graph, multiply(graph, gradient, result), [last])
        const ofScores = multiply(graph, shares, subtract(graph, ofShares, along))
        return [
          matmul(graph, ofScores, keys, { scale }),
          matmul(graph, ofScores, queries, { transposeFirst: true, scale }),
          matmul(graph, shares, gradient, { transposeFirst: true }),
        ]
      },
    },
  )
  return result
}

export interface AttentionInputs {
  queries: Tensor
  keys: Tensor
  values: Tensor
  /** Attention mask added to the scores; masked entries have a large negative value. */
  bias?: Tensor | undefined
  scale: number
}

/**
 * The log-probability of the target in each row of logits. The gradient is fused, as one-hot minus softmax: through
 * log-softmax and selection it would take several passes over the largest tensor.
 */
export function targetLogProbabilities(graph: Graph, scores: Tensor, chosen: Tensor): Tensor {
  const axis = scores.shape.length - 1
  const rowShape = [...chosen.shape, 1]
  const last = graph.constant([-1], [1], 'int64')
  const all = graph.node('LogSoftmax', [scores], scores.shape, { attributes: { axis: -1 } })
  const positions = graph.node('Unsqueeze', [chosen, last], rowShape, { type: 'int64' })
  const column = graph.node('GatherElements', [all, positions], rowShape, { attributes: { axis } })
  return graph.node('Squeeze', [column, last], chosen.shape, {
    differentiated: [scores],
    gradient: (gradient) => {
      const wide = graph.node('Unsqueeze', [gradient, last], rowShape)
      const spread = multiply(
        graph,
        graph.node('Exp', [all], all.shape),
        graph.node('Neg', [wide], wide.shape),
      )
      const full = graph.node('ScatterElements', [spread, positions, wide], scores.shape, {
        attributes: { axis, reduction: 'add' },
      })
      return [full]
    },
  })
}
