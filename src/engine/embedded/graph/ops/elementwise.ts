import type { Graph, Tensor } from '../graph.ts'
import { broadcastShape, sumTo } from './shape.ts'

type Binary = (graph: Graph, a: Tensor, b: Tensor) => Tensor

export const add: Binary = (graph, a, b) =>
  graph.node('Add', [a, b], broadcastShape(a.shape, b.shape), {
    gradient: (gradient) => [sumTo(graph, gradient, a.shape), sumTo(graph, gradient, b.shape)],
  })

export const subtract: Binary = (graph, a, b) =>
  graph.node('Sub', [a, b], broadcastShape(a.shape, b.shape), {
    gradient: (gradient) => [sumTo(graph, gradient, a.shape), sumTo(graph, negate(graph, gradient), b.shape)],
  })

export const multiply: Binary = (graph, a, b) =>
  graph.node('Mul', [a, b], broadcastShape(a.shape, b.shape), {
    gradient: (gradient) => [
      sumTo(graph, multiply(graph, gradient, b), a.shape),
      sumTo(graph, multiply(graph, gradient, a), b.shape),
    ],
  })

/** Multiplies by a non-trainable scalar of shape [1]. */
export function scaleBy(graph: Graph, x: Tensor, number: Tensor): Tensor {
  return graph.node('Mul', [x, number], x.shape, {
    differentiated: [x],
    gradient: (gradient) => [graph.node('Mul', [gradient, number], x.shape)],
  })
}

export const divide: Binary = (graph, a, b) => {
  const quotient: Tensor = graph.node('Div', [a, b], broadcastShape(a.shape, b.shape), {
    gradient: (gradient) => {
      const share = divide(graph, gradient, b)
      return [
        sumTo(graph, share, a.shape),
        sumTo(graph, negate(graph, multiply(graph, share, quotient)), b.shape),
      ]
    },
  })
  return quotient
}

/** On ties the gradient goes to the first. */
export const minimum: Binary = (graph, a, b) => choose(graph, 'Min', 'LessOrEqual', a, b)
/** On ties the gradient goes to the first. */
export const maximum: Binary = (graph, a, b) => choose(graph, 'Max', 'GreaterOrEqual', a, b)

function choose(graph: Graph, op: string, test: string, a: Tensor, b: Tensor): Tensor {
  const shape = broadcastShape(a.shape, b.shape)
  return graph.node(op, [a, b], shape, {
    gradient: (gradient) => {
      const first = graph.node(test, [a, b], shape, { type: 'bool' })
      const zero = graph.constant(0)
      return [
        sumTo(graph, graph.node('Where', [first, gradient, zero], shape), a.shape),
        sumTo(graph, graph.node('Where', [first, zero, gradient], shape), b.shape),
      ]
    },
  })
}

export function negate(graph: Graph, x: Tensor): Tensor {
  return graph.node('Neg', [x], x.shape, { gradient: (gradient) => [negate(graph, gradient)] })
}

export function exp(graph: Graph, x: Tensor): Tensor {
  const power: Tensor = graph.node('Exp', [x], x.shape, {
    gradient: (gradient) => [multiply(graph, gradient, power)],
  })
  return power
}

export function log(graph: Graph, x: Tensor): Tensor {
  return graph.node('Log', [x], x.shape, { gradient: (gradient) => [divide(graph, gradient, x)] })
}

export function squareRoot(graph: Graph, x: Tensor): Tensor {
  const root: Tensor = graph.node('Sqrt', [x], x.shape, {
    gradient: (gradient) => [divide(graph, multiply(graph, gradient, graph.constant(0.5)), root)],
  })
  return root
}

export function sigmoid(graph: Graph, x: Tensor): Tensor {
  const share: Tensor = graph.node('Sigmoid', [x], x.shape, {
    gradient: (gradient) => {
      const slope = multiply(graph, share, subtract(graph, graph.constant(1), share))
      return [multiply(graph, gradient, slope)]
    },
  })
  return share
}

/** x · sigmoid(x), the gate of SwiGLU. */
export function silu(graph: Graph, x: Tensor): Tensor {
  return multiply(graph, x, sigmoid(graph, x))
}
