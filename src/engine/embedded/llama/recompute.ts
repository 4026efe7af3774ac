import { backward } from '../graph/gradients.ts'
import { type Graph, sizeOf, type Tensor } from '../graph/graph.ts'
import { reshape, slice } from '../graph/ops/shape.ts'

/**
 * Activation checkpointing: a subgraph that keeps only its input for the backward pass and is recomputed there. `all` are
 * the parameters; those used inside get their gradients from the recomputation.
 */
export function recomputed(
  graph: Graph,
  x: Tensor,
  part: (x: Tensor) => Tensor,
  all: readonly Tensor[],
): Tensor {
  const before = graph.nodes.length
  const result = part(x)
  // The nodes of the first pass must not be differentiated one by one: the subgraph has a single rule.
  const inside = graph.nodes.slice(before)
  const parameters = all.filter((each) => inside.some(({ inputs }) => inputs.includes(each)))
  return graph.node('Identity', [result], result.shape, {
    differentiated: [x, ...parameters],
    gradient: (gradient) => {
      // Without a dependency on the gradient, the runtime would run the recomputation early and keep all of it.
      const first = slice(graph, reshape(graph, gradient, [sizeOf(gradient.shape)]), 0, 0, 1)
      const nothing = graph.node('Mul', [first, graph.constant(0)], [1])
      // No gradient rule: differentiation stops here.
      const again = graph.node('Add', [x, nothing], x.shape)
      return backward(graph, part(again), gradient, [again, ...parameters])
    },
  })
}
