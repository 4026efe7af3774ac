import type { Graph, Shape, Tensor } from '../graph.ts'
import { broadcastShape, sumTo } from './shape.ts'

export interface MatmulOptions {
  /** Transpose the matrices of the first or second factor. */
  transposeFirst?: boolean
  transposeSecond?: boolean
  scale?: number
}

/**
 * Matrix products over the last two axes, broadcasting the others. Transposing and scaling are free: the kernel does
 * them.
 */
export function matmul(graph: Graph, a: Tensor, b: Tensor, options: MatmulOptions = {}): Tensor {
  const { transposeFirst = false, transposeSecond = false, scale = 1 } = options
  const [rows, inner] = sides(a.shape, transposeFirst)
  const [innerToo, columns] = sides(b.shape, transposeSecond)
  if (inner !== innerToo) throw new RangeError(`[${a.shape}] and [${b.shape}] cannot be multiplied`)
  const batch = broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2))
  return graph.node('FusedMatMul', [a, b], [...batch, rows, columns], {
    domain: 'com.microsoft',
    attributes: {
      transA: transposeFirst ? 1 : 0,
      transB: transposeSecond ? 1 : 0,
      alpha: { float: scale },
    },
    gradient: (gradient) => {
      // For C = scale · A·B with either factor transposed, each gradient is again one product.
      const first = transposeFirst
        ? matmul(graph, b, gradient, { transposeFirst: transposeSecond, transposeSecond: true, scale })
        : matmul(graph, gradient, b, { transposeSecond: !transposeSecond, scale })
      const second = transposeSecond
        ? matmul(graph, gradient, a, { transposeFirst: true, transposeSecond: transposeFirst, scale })
        : matmul(graph, a, gradient, { transposeFirst: !transposeFirst, scale })
      return [sumTo(graph, first, a.shape), sumTo(graph, second, b.shape)]
    },
  })
}

function sides(shape: Shape, isTransposed: boolean): [number, number] {
  const [rows, columns] = shape.slice(-2) as [number, number]
  return isTransposed ? [columns, rows] : [rows, columns]
}
