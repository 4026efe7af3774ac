import type { Graph, Tensor } from '../graph.ts'
import { add, divide, multiply, squareRoot, subtract } from './elementwise.ts'
import { expand, sum } from './shape.ts'

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

/** Scales each row to a mean square of 1, and then each column by its weight. */
export function rmsNorm(graph: Graph, x: Tensor, weight: Tensor, epsilon: number): Tensor {
  const last = x.shape.length - 1
  const width = x.shape[last]!
  const mean = multiply(graph, sum(graph, multiply(graph, x, x), [last]), graph.constant(1 / width))
  const size = squareRoot(graph, add(graph, mean, graph.constant(epsilon)))
  return multiply(graph, divide(graph, x, size), weight)
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
