import { type Graph, sizeOf, type Tensor } from './graph.ts'
import { add } from './ops/elementwise.ts'

/** Adds nodes that compute the gradients of a scalar with respect to the given tensors. */
export function gradients(graph: Graph, loss: Tensor, wanted: readonly Tensor[]): Tensor[] {
  if (sizeOf(loss.shape) !== 1) throw new RangeError(`gradients need a scalar, not [${loss.shape}]`)
  const one = loss.shape.length === 0 ? graph.constant(1) : graph.constant([1], loss.shape)
  return backward(graph, loss, one, wanted)
}

/**
 * Reverse-mode automatic differentiation: visits the nodes once, from last to first; nodes that are not on a path from
 * `wanted` to the result are skipped.
 */
export function backward(
  graph: Graph,
  result: Tensor,
  gradientOfResult: Tensor,
  wanted: readonly Tensor[],
): Tensor[] {
  const nodes = [...graph.nodes]
  const reached = new Set(wanted.map(({ name }) => name))
  for (const { differentiated, outputs } of nodes) {
    if (differentiated.some(({ name }) => reached.has(name)))
      for (const { name } of outputs) reached.add(name)
  }
  const known = new Map<string, Tensor>([[result.name, gradientOfResult]])
  for (const node of nodes.toReversed()) {
    const gradient = known.get(node.outputs[0]!.name)
    if (gradient === undefined || node.gradient === undefined) continue
    if (!node.differentiated.some(({ name }) => reached.has(name))) continue
    for (const [index, part] of node.gradient(gradient).entries()) {
      const input = node.differentiated[index]!
      if (part === undefined || !reached.has(input.name)) continue
      const before = known.get(input.name)
      known.set(input.name, before === undefined ? part : add(graph, before, part))
    }
  }
  return wanted.map((tensor) => {
    const found = known.get(tensor.name)
    if (found === undefined) throw new RangeError(`the loss does not depend on ${tensor.name}`)
    return found
  })
}
