import { type Graph, type Node, type Shape, sizeOf, type Tensor } from '../graph/graph.ts'
import { lower, type Steps } from './lower.ts'

/**
 * Rewrites a graph to nodes that onnxruntime's WebGPU provider implements, and implements correctly. Others would run on
 * the CPU with copies back and forth, which makes the GPU pointless: above all matrix products.
 */
export function forWebGpu(graph: Graph): Graph {
  return lower(graph, {
    FusedMatMul: lowerProduct,
    LogSoftmax: lowerLogSoftmax,
    SimplifiedLayerNormalization: lowerNorm,
  })
}

interface ProductAttributes {
  transA: number
  transB: number
  alpha: { float: number }
}

function lowerProduct(node: Node, steps: Steps): void {
  const [a, b] = node.inputs as [Tensor, Tensor]
  const [result] = node.outputs as [Tensor]
  const { transA, transB, alpha } = node.attributes as unknown as ProductAttributes
  // A product of two matrices is one kernel, transposed or not; so is a stack of rows times a matrix.
  if (b.shape.length === 2 && (a.shape.length === 2 || (transA === 0 && unknowns(result.shape) <= 1))) {
    const flatSides = [-1, a.shape.at(-1)!]
    const isFlat = a.shape.length === 2
    const flat = isFlat ? a : steps.add('Reshape', [a, steps.sizes(flatSides)], flatSides)
    const attributes = { transA, transB, alpha }
    if (isFlat) steps.into(result, 'Gemm', [flat, b], attributes)
    else {
      const product = steps.add('Gemm', [flat, b], [-1, result.shape.at(-1)!], attributes)
      steps.into(result, 'Reshape', [product, steps.sizes(result.shape.map((size) => Math.max(size, -1)))])
    }
    return
  }
  const factors = { first: rotated(a, transA === 1, steps), second: rotated(b, transB === 1, steps) }
  if (alpha.float !== 1) {
    // Scale the smaller factor.
    const which = memory(a.shape) <= memory(b.shape) ? 'first' : 'second'
    const factor = factors[which]
    factors[which] = steps.add('Mul', [factor, steps.number(alpha.float)], factor.shape)
  }
  steps.into(result, 'MatMul', [factors.first, factors.second])
}

function rotated(x: Tensor, isTurned: boolean, steps: Steps): Tensor {
  if (!isTurned) return x
  const rank = x.shape.length
  const order = [...Array.from({ length: rank - 2 }, (_, axis) => axis), rank - 1, rank - 2]
  return steps.add(
    'Transpose',
    [x],
    order.map((axis) => x.shape[axis]!),
    { perm: order },
  )
}

const unknowns = (shape: Shape): number => shape.filter((size) => size < 0).length
const memory = (shape: Shape): number => (unknowns(shape) > 0 ? Number.POSITIVE_INFINITY : sizeOf(shape))

/** x − max − log Σ exp(x − max), over the last axis. */
function lowerLogSoftmax(node: Node, steps: Steps): void {
  const [x] = node.inputs as [Tensor]
  const column = [...x.shape.slice(0, -1), 1]
  const highest = steps.add('ReduceMax', [x], column, { axes: [-1], keepdims: 1 })
  const below = steps.add('Sub', [x, highest], x.shape)
  const powers = steps.add('Exp', [below], x.shape)
  const total = steps.add('ReduceSum', [powers, steps.sizes([-1])], column, { keepdims: 1 })
  steps.into(node.outputs[0]!, 'Sub', [below, steps.add('Log', [total], column)])
}

/**
 * The kernel's second output, 1/rms of each row, is wrong (onnxruntime-node 1.30), and gradients need it, so it is
 * computed separately.
 */
function lowerNorm(node: Node, steps: Steps): void {
  const [x] = node.inputs as [Tensor]
  const [result, inverseSize] = node.outputs as [Tensor, Tensor | undefined]
  steps.keep(node, [result])
  if (inverseSize === undefined) return
  const { epsilon } = node.attributes as unknown as { epsilon: { float: number } }
  const column = inverseSize.shape
  const squares = steps.add('Mul', [x, x], x.shape)
  const mean = steps.add('ReduceMean', [squares], column, { axes: [-1], keepdims: 1 })
  const raised = steps.add('Add', [mean, steps.number(epsilon.float)], column)
  steps.into(inverseSize, 'Reciprocal', [steps.add('Sqrt', [raised], column)])
}
