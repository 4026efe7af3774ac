import * as ort from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import { toOnnx } from '../onnx/emit.ts'
import { gradients } from './gradients.ts'
import { Graph, type Shape, sizeOf, type Tensor } from './graph.ts'
import * as elementwise from './ops/elementwise.ts'
import { matmul } from './ops/matmul.ts'
import * as network from './ops/network.ts'
import * as shapes from './ops/shape.ts'

type Build = (graph: Graph, inputs: Tensor[]) => Tensor

/** Deterministic pseudo-random numbers, away from 0 where derivatives may jump. */
function numbers(shape: Shape, seed: number, positive: boolean): Float32Array {
  return Float32Array.from({ length: sizeOf(shape) }, (_, index) => {
    const value = Math.sin(seed * 12.9898 + index * 78.233) * 43758.5453
    const unit = value - Math.floor(value)
    return positive ? 0.3 + unit : (unit - 0.5) * 2 + (unit < 0.5 ? -0.1 : 0.1)
  })
}

/** Weights every entry of the result differently, so that no gradient error cancels in the sum. */
async function compare(build: Build, inputShapes: Shape[], positive = false): Promise<void> {
  const graph = new Graph()
  const inputs = inputShapes.map((shape, index) => graph.input(`x${index}`, shape))
  const result = build(graph, inputs)
  const weights = graph.constant([...numbers(result.shape, 99, false)], result.shape)
  const weighted = elementwise.multiply(graph, result, weights)
  const loss = shapes.sum(
    graph,
    weighted,
    result.shape.map((_, axis) => axis),
    false,
  )
  graph.output('loss', loss)
  for (const [index, gradient] of gradients(graph, loss, inputs).entries()) {
    expect(gradient.shape).toEqual(inputShapes[index])
    graph.output(`g${index}`, gradient)
  }
  const session = await ort.InferenceSession.create(toOnnx(graph))
  const values = inputShapes.map((shape, index) => numbers(shape, index + 1, positive))
  const run = (all: Float32Array[]) =>
    session.run(
      Object.fromEntries(
        all.map((data, index) => [`x${index}`, new ort.Tensor('float32', data, inputShapes[index]!)]),
      ),
    )
  const here = await run(values)
  const step = 1e-2
  for (const [index, data] of values.entries()) {
    const found = here[`g${index}`]!.data as Float32Array
    for (let at = 0; at < data.length; at++) {
      const moved = async (by: number): Promise<number> => {
        const copy = values.map((each) => each.slice())
        copy[index]![at]! += by
        return Number((await run(copy))['loss']!.data[0])
      }
      const slope = ((await moved(step)) - (await moved(-step))) / (2 * step)
      expect(
        Math.abs(found[at]! - slope),
        `input ${index}, entry ${at}: ${found[at]} instead of ${slope}`,
      ).toBeLessThan(2e-2 * Math.max(1, Math.abs(slope)))
    }
  }
  await session.release()
}

function rotation(graph: Graph): network.RopeTables {
  const angles = Array.from({ length: 5 * 4 }, (_, index) => Math.floor(index / 4) * 0.4 ** (index % 4))
  const table = (of: (angle: number) => number): Tensor => graph.constant(angles.map(of), [5, 4])
  return {
    positions: graph.constant([0, 1, 2, 4, 3, 1], [2, 3], 'int64'),
    cosines: table(Math.cos),
    sines: table(Math.sin),
    negatedSines: table((angle) => -Math.sin(angle)),
    headWidth: 8,
  }
}

const cases: [string, Build, Shape[], boolean?][] = [
  ['add', (graph, [a, b]) => elementwise.add(graph, a!, b!), [[2, 3], [3]]],
  [
    'subtract',
    (graph, [a, b]) => elementwise.subtract(graph, a!, b!),
    [
      [2, 1],
      [2, 3],
    ],
  ],
  [
    'multiply',
    (graph, [a, b]) => elementwise.multiply(graph, a!, b!),
    [
      [2, 3],
      [2, 1],
    ],
  ],
  ['divide', (graph, [a, b]) => elementwise.divide(graph, a!, b!), [[2, 3], [3]], true],
  ['minimum', (graph, [a, b]) => elementwise.minimum(graph, a!, b!), [[2, 3], [3]]],
  [
    'maximum',
    (graph, [a, b]) => elementwise.maximum(graph, a!, b!),
    [
      [2, 3],
      [1, 3],
    ],
  ],
  ['negate', (graph, [a]) => elementwise.negate(graph, a!), [[4]]],
  ['exp', (graph, [a]) => elementwise.exp(graph, a!), [[4]]],
  ['log', (graph, [a]) => elementwise.log(graph, a!), [[4]], true],
  ['squareRoot', (graph, [a]) => elementwise.squareRoot(graph, a!), [[4]], true],
  ['sigmoid', (graph, [a]) => elementwise.sigmoid(graph, a!), [[4]]],
  ['silu', (graph, [a]) => elementwise.silu(graph, a!), [[4]]],
  ['reshape', (graph, [a]) => shapes.reshape(graph, a!, [3, 2]), [[2, 3]]],
  ['transpose', (graph, [a]) => shapes.transpose(graph, a!, [2, 0, 1]), [[2, 3, 4]]],
  ['sum', (graph, [a]) => shapes.sum(graph, a!, [1]), [[2, 3, 2]]],
  ['sum, dropped', (graph, [a]) => shapes.sum(graph, a!, [0, 2], false), [[2, 3, 2]]],
  ['expand', (graph, [a]) => shapes.expand(graph, a!, [2, 3, 4]), [[3, 1]]],
  ['slice', (graph, [a]) => shapes.slice(graph, a!, 1, 1, 3), [[2, 4]]],
  [
    'concat',
    (graph, [a, b]) => shapes.concat(graph, [a!, b!], 1),
    [
      [2, 1],
      [2, 3],
    ],
  ],
  ['softmax', (graph, [a]) => network.softmax(graph, a!), [[2, 4]]],
  ['rmsNorm', (graph, [a, b]) => network.rmsNorm(graph, a!, b!, 1e-5), [[2, 4], [4]]],
  [
    'swiglu',
    (graph, [a, b]) => network.swiglu(graph, a!, b!),
    [
      [2, 3],
      [2, 3],
    ],
  ],
  ['applyRope', (graph, [a]) => network.applyRope(graph, a!, rotation(graph)), [[2, 3, 16]]],
  [
    'scaledDotProductAttention',
    (graph, [queries, keys, values]) =>
      network.scaledDotProductAttention(graph, {
        queries: queries!,
        keys: keys!,
        values: values!,
        scale: 0.7,
      }),
    [
      [2, 3, 2],
      [2, 4, 2],
      [2, 4, 3],
    ],
  ],
  [
    'attention with a mask',
    (graph, [queries, keys, values]) => {
      const bias = graph.constant([0, -1e9, 0, 0, 0, -1e9], [2, 3])
      return network.scaledDotProductAttention(graph, {
        queries: queries!,
        keys: keys!,
        values: values!,
        bias,
        scale: 1,
      })
    },
    [
      [2, 2, 2],
      [2, 3, 2],
      [2, 3, 1],
    ],
  ],
  [
    'embeddingLookup',
    (graph, [a]) => network.embeddingLookup(graph, a!, graph.constant([2, 0, 2, 1], [2, 2], 'int64')),
    [[3, 2]],
  ],
  [
    'targetLogProbabilities',
    (graph, [a]) => network.targetLogProbabilities(graph, a!, graph.constant([1, 3, 0], [3], 'int64')),
    [[3, 4]],
  ],
  ...[false, true].flatMap((transposeFirst) =>
    [false, true].map((transposeSecond): [string, Build, Shape[]] => [
      `product ${transposeFirst} ${transposeSecond}`,
      (graph, [a, b]) => matmul(graph, a!, b!, { transposeFirst, transposeSecond, scale: 0.7 }),
      [transposeFirst ? [2, 4, 3] : [2, 3, 4], transposeSecond ? [5, 4] : [4, 5]],
    ]),
  ),
  [
    'product of batches',
    (graph, [a, b]) => matmul(graph, a!, b!),
    [
      [2, 1, 2, 3],
      [1, 2, 3, 2],
    ],
  ],
  [
    'a value used twice',
    (graph, [a]) => elementwise.add(graph, elementwise.multiply(graph, a!, a!), elementwise.exp(graph, a!)),
    [[3]],
  ],
]

describe('gradients agree with finite differences', () => {
  it.each(cases)('%s', (_name, build, inputShapes, positive) => compare(build, inputShapes, positive))
})

describe('a graph', () => {
  it('rejects mismatched shapes when it is built', () => {
    const graph = new Graph()
    const a = graph.input('a', [2, 3])
    const b = graph.input('b', [4, 5])
    expect(() => matmul(graph, a, b)).toThrow('cannot be multiplied')
    expect(() => elementwise.add(graph, a, b)).toThrow('cannot be broadcast')
    expect(() => shapes.reshape(graph, a, [4, 2])).toThrow('cannot be reshaped')
    expect(() => gradients(graph, a, [b])).toThrow('gradients need a scalar')
  })
})
