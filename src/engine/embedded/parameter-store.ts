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

/** Weights in memory shared between threads. */
export interface SharedWeights {
  trained: Float32Array
  frozen: Map<string, Float32Array>
}

export function sharedArray(size: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(4 * size))
}

/**
 * The weights and their gradients. All trained parameters are in one array, matrices first, so that the optimizer needs
 * one sweep and weight decay applies to a contiguous range; each parameter is a view, and every graph reads the same
 * memory.
 */
export class ParameterStore {
  readonly parameters: readonly NamedParameter[]
  readonly trained: readonly NamedParameter[]
  readonly values: ReadonlyMap<string, Value>
  /** Trained weights and their gradients, in the same layout. */
  readonly weights: Float32Array
  readonly gradients: Float32Array
  /** Number of leading elements that weight decay applies to. */
  readonly decayed: number
  readonly #offsets = new Map<string, number>()
  readonly #frozen: Map<string, Float32Array>

  /** `weights` are copied, unless they are another store's: then both share the memory. */
  constructor(
    runtime: Runtime,
    parameters: readonly NamedParameter[],
    weights: StoredTensors | SharedWeights,
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
      this.#offsets.set(name, size)
      size += sizeOf(shape)
      if (kind === 'matrix') decayed = size
    }
    this.decayed = decayed
    this.gradients = sharedArray(size)
    const given = weights instanceof Map ? undefined : weights
    this.weights = given?.trained ?? sharedArray(size)
    this.#frozen = given?.frozen ?? new Map()
    this.values = new Map(
      parameters.map((parameter) => {
        const { name, shape } = parameter
        const view = this.#offsets.has(name)
          ? this.part(this.weights, parameter)
          : this.#frozenArray(parameter)
        if (weights instanceof Map) view.set(weights.get(name)!.values)
        return [name, runtime.value(view, shape)]
      }),
    )
  }

  /** For a store in another thread that reads the same weights. */
  share(): SharedWeights {
    return { trained: this.weights, frozen: this.#frozen }
  }

  #frozenArray({ name, shape }: NamedParameter): Float32Array {
    const known = this.#frozen.get(name)
    if (known !== undefined) return known
    const made = sharedArray(sizeOf(shape))
    this.#frozen.set(name, made)
    return made
  }

  /** A parameter's part of an array with the layout of the trained weights. */
  part(array: Float32Array, { name, shape }: NamedParameter): Float32Array {
    const offset = this.#offsets.get(name)!
    return array.subarray(offset, offset + sizeOf(shape))
  }

  /** Copies weights in offset: graphs keep their views. */
  load(weights: StoredTensors): void {
    for (const { name } of this.parameters) {
      const target = this.values.get(name)!.data as Float32Array
      target.set(weights.get(name)!.values)
    }
  }

  /** Copies of the weights by name. */
  stored(which: readonly NamedParameter[] = this.parameters): StoredTensors {
    return new Map(
      which.map(({ name, shape }) => [
        name,
        { shape, values: (this.values.get(name)!.data as Float32Array).slice() },
      ]),
    )
  }
}
