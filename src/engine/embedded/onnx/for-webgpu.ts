import { type Graph, type Node, type Shape, sizeOf, type Tensor } from '../graph/graph.ts'
import { lower, type Steps } from './lower.ts'

/**
 * The graph in nodes that onnxruntime's WebGPU provider has kernels for, and right ones. What it lacks it would leave to
 * the processor and copy back and forth, which is right but makes the GPU pointless: matrix products first of all.
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
  // A product of two matrices is one kernel, whichever way they lie; so is one of a stack of rows and a matrix.
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
  const factors = { first: turned(a, transA === 1, steps), second: turned(b, transB === 1, steps) }
  if (alpha.float !== 1) {
    // The scale goes to the smaller factor.
    const which = memory(a.shape) <= memory(b.shape) ? 'first' : 'second'
    const factor = factors[which]
    factors[which] = steps.add('Mul', [factor, steps.number(alpha.float)], factor.shape)
  }
  steps.into(result, 'MatMul', [factors.first, factors.second])
}

function turned(x: Tensor, isTurned: boolean, steps: Steps): Tensor {
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
 * The kernel gives the right rows but a wrong second output (onnxruntime-node 1.30): one over the size of each row, which
 * gradients need.
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
