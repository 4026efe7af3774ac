import { type Graph, type Shape, sameShape, sizeOf, type Tensor } from '../graph.ts'

/** The broadcast shape of two tensors: sizes agree, or one of them is 1. */
export function broadcastShape(one: Shape, other: Shape): Shape {
  const rank = Math.max(one.length, other.length)
  return Array.from({ length: rank }, (_, axis) => {
    const left = one[axis - rank + one.length] ?? 1
    const right = other[axis - rank + other.length] ?? 1
    if (left !== right && left !== 1 && right !== 1)
      throw new RangeError(`[${one}] and [${other}] cannot be broadcast`)
    return left === 1 ? right : left
  })
}

export function reshape(graph: Graph, x: Tensor, shape: Shape): Tensor {
  if (sizeOf(shape) !== sizeOf(x.shape)) throw new RangeError(`[${x.shape}] cannot be reshaped to [${shape}]`)
  if (sameShape(shape, x.shape)) return x
  return graph.node('Reshape', [x, graph.constant([...shape], [shape.length], 'int64')], shape, {
    type: x.type,
    gradient: (gradient) => [reshape(graph, gradient, x.shape), undefined],
  })
}

export function transpose(graph: Graph, x: Tensor, order: readonly number[]): Tensor {
  const back = order.map((_, axis) => order.indexOf(axis))
  return graph.node(
    'Transpose',
    [x],
    order.map((axis) => x.shape[axis]!),
    { attributes: { perm: order }, type: x.type, gradient: (gradient) => [transpose(graph, gradient, back)] },
  )
}

/** The sum over axes, which are kept with size 1 unless `keep` is false. */
export function sum(graph: Graph, x: Tensor, axes: readonly number[], keep = true): Tensor {
  const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size))
  const shape = keep ? kept : x.shape.filter((_, axis) => !axes.includes(axis))
  return graph.node('ReduceSum', [x, graph.constant([...axes], [axes.length], 'int64')], shape, {
    attributes: { keepdims: keep ? 1 : 0 },
    gradient: (gradient) => [expand(graph, reshape(graph, gradient, kept), x.shape), undefined],
  })
}

export function expand(graph: Graph, x: Tensor, shape: Shape): Tensor {
  if (sameShape(x.shape, shape)) return x
  broadcastShape(x.shape, shape)
  return graph.node('Expand', [x, graph.constant([...shape], [shape.length], 'int64')], shape, {
    gradient: (gradient) => [sumTo(graph, gradient, x.shape), undefined],
  })
}

/** Reverses broadcasting: sums over every axis that was expanded. */
export function sumTo(graph: Graph, x: Tensor, shape: Shape): Tensor {
  if (sameShape(x.shape, shape)) return x
  const extra = x.shape.length - shape.length
  const axes = x.shape.flatMap((size, axis) =>
    axis < extra || (shape[axis - extra] === 1 && size !== 1) ? [axis] : [],
  )
  return reshape(graph, axes.length === 0 ? x : sum(graph, x, axes), shape)
}

/** A range of one axis. */
export function slice(graph: Graph, x: Tensor, axis: number, from: number, to: number): Tensor {
  const size = x.shape[axis]!
  if (from < 0 || to > size || from >= to) throw new RangeError(`${from} to ${to} is not within ${size}`)
  const one = (value: number): Tensor => graph.constant([value], [1], 'int64')
  const shape = x.shape.map((length, at) => (at === axis ? to - from : length))
  return graph.node('Slice', [x, one(from), one(to), one(axis)], shape, {
    type: x.type,
    gradient: (gradient) => {
      const pads = [
        ...x.shape.map((_, at) => (at === axis ? from : 0)),
        ...x.shape.map((_, at) => (at === axis ? size - to : 0)),
      ]
      return [graph.node('Pad', [gradient, graph.constant(pads, [pads.length], 'int64')], x.shape)]
    },
  })
}

export function concat(graph: Graph, parts: readonly Tensor[], axis: number): Tensor {
  const shape = parts[0]!.shape.map((size, at) =>
    at === axis ? parts.reduce((total, part) => total + part.shape[axis]!, 0) : size,
  )
  return graph.node('Concat', parts, shape, {
    attributes: { axis },
    type: parts[0]!.type,
    gradient: (gradient) => {
      let from = 0
      return parts.map((part) => {
        const to = from + part.shape[axis]!
        const piece = slice(graph, gradient, axis, from, to)
        from = to
        return piece
      })
    },
  })
}
