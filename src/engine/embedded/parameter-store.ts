import type { StoredTensors } from '../checkpoint/index.ts'
import { sizeOf } from './graph/graph.ts'
import type { LoraSettings } from './llama/lora.ts'
import { isTrained } from './llama/parameter-shapes.ts'
import type { Runtime, Value } from './runtime.ts'

export interface NamedParameter {
  name: string
  shape: number[]
  kind: 'matrix' | 'norm' | 'bias'
}

/**
 * The weights, their gradients and the optimiser's moments. All that is trained lies in one array, matrices first, so
 * that the optimiser goes through it in one sweep and weight decay is a range; each parameter is a view of it, and every
 * graph reads the same memory.
 */
export class ParameterStore {
  readonly parameters: readonly NamedParameter[]
  readonly trained: readonly NamedParameter[]
  readonly values: ReadonlyMap<string, Value>
  /** Trained weights, and beside them the gradient of each. */
  readonly weights: Float32Array
  readonly gradients: Float32Array
  /** Numbers at the front of the arrays that weight decay applies to. */
  readonly decayed: number
  readonly #places = new Map<string, number>()

  constructor(
    runtime: Runtime,
    parameters: readonly NamedParameter[],
    weights: StoredTensors,
    lora: LoraSettings | undefined,
  ) {
    this.parameters = parameters
    const trained = parameters.filter(({ name }) => isTrained(name, lora))
    this.trained = [
      ...trained.filter(({ kind }) => kind === 'matrix'),
      ...trained.filter(({ kind }) => kind !== 'matrix'),
    ]
    let size = 0
    let decayed = 0
    for (const { name, shape, kind } of this.trained) {
      this.#places.set(name, size)
      size += sizeOf(shape)
      if (kind === 'matrix') decayed = size
    }
    this.decayed = decayed
    this.weights = new Float32Array(size)
    this.gradients = new Float32Array(size)
    this.values = new Map(
      parameters.map(({ name, shape }) => {
        const place = this.#places.get(name)
        const given = weights.get(name)!.values
        if (place === undefined) return [name, runtime.value(given, shape)]
        const view = this.weights.subarray(place, place + given.length)
        view.set(given)
        return [name, runtime.value(view, shape)]
      }),
    )
  }

  /** A parameter's part of an array that lies as the trained weights do. */
  part(array: Float32Array, { name, shape }: NamedParameter): Float32Array {
    const place = this.#places.get(name)!
    return array.subarray(place, place + sizeOf(shape))
  }

  /** Copies weights in, in place: graphs keep their views. */
  take(weights: StoredTensors): void {
    for (const { name } of this.parameters) {
      const target = this.values.get(name)!.data as Float32Array
      target.set(weights.get(name)!.values)
    }
  }

  /** The weights by name, as copies. */
  stored(which: readonly NamedParameter[] = this.parameters): StoredTensors {
    return new Map(
      which.map(({ name, shape }) => [
        name,
        { shape, values: (this.values.get(name)!.data as Float32Array).slice() },
      ]),
    )
  }
}
