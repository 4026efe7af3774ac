import { elementCount } from './element-types.ts'
import type { ModelShape } from './model-shape.ts'
import { randomStream } from './random-stream.ts'
import type { StoredTensors } from './stored-tensor.ts'
import { parametersOf } from './weight-names.ts'

/**
 * Initial weights: matrices are normal with the shape's initializerRange, norms 1, biases 0. The same seed gives the same
 * weights on every machine. Each parameter has its own random stream, so adding a layer does not change the others.
 */
export function randomWeights(shape: ModelShape, seed: number): StoredTensors {
  const weights: StoredTensors = new Map()
  for (const parameter of parametersOf(shape)) {
    const values = new Float32Array(elementCount(parameter.shape))
    if (parameter.kind === 'norm') values.fill(1)
    if (parameter.kind === 'matrix') fillNormal(values, shape.initializerRange, `${seed}\0${parameter.name}`)
    weights.set(parameter.name, { shape: parameter.shape, values })
  }
  return weights
}

/** Box–Muller: two uniform numbers become two normal ones. */
function fillNormal(values: Float32Array, deviation: number, stream: string): void {
  const next = randomStream(stream)
  for (let i = 0; i < values.length; i += 2) {
    // The offset avoids 0, whose logarithm is infinite.
    const radius = deviation * Math.sqrt(-2 * Math.log((next() + 0.5) / 2 ** 32))
    const angle = (2 * Math.PI * next()) / 2 ** 32
    values[i] = radius * Math.cos(angle)
    if (i + 1 < values.length) values[i + 1] = radius * Math.sin(angle)
  }
}
