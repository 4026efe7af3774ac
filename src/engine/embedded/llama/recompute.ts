import { backward } from '../graph/gradients.ts'
import { type Graph, sizeOf, type Tensor } from '../graph/graph.ts'
import { reshape, slice } from '../graph/ops/shape.ts'

/**
 * A part of a graph that keeps nothing for the way back but what went in: there it is computed again. `all` are the
 * parameters; those used inside get their gradients from the second time.
 */
export function recomputed(
  graph: Graph,
  x: Tensor,
  part: (x: Tensor) => Tensor,
  all: readonly Tensor[],
): Tensor {
  const before = graph.nodes.length
  const result = part(x)
  // The nodes of the first pass must not be differentiated one by one: the whole has one rule.
  const inside = graph.nodes.slice(before)
  const parameters = all.filter((each) => inside.some(({ inputs }) => inputs.includes(each)))
  return graph.node('Identity', [result], result.shape, {
    differentiated: [x, ...parameters],
    gradient: (gradient) => {
      // Without a tie to the gradient the runtime would do the second pass early, and keep all of it.
      const first = slice(graph, reshape(graph, gradient, [sizeOf(gradient.shape)]), 0, 0, 1)
      const nothing = graph.node('Mul', [first, graph.constant(0)], [1])
      // No gradient rule: the way back ends here.
      const again = graph.node('Add', [x, nothing], x.shape)
      return backward(graph, part(again), gradient, [again, ...parameters])
    },
  })
}
