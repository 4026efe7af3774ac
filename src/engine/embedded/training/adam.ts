import type { AdamSettings, OptimResult } from '../../contract.ts'
import { type ParameterStore, sharedArray } from '../parameter-store.ts'
import { type AdamArrays, type AdamRange, sumOfSquares, updateRange } from './adam-range.ts'
import type { PassThread } from './pass-thread.ts'

/** AdamW over all trained weights. Moments have the layout of the weights. */
export class Adam {
  readonly first: Float32Array
  readonly second: Float32Array
  step = 0
  readonly #store: ParameterStore

  constructor(store: ParameterStore) {
    this.#store = store
    this.first = sharedArray(store.weights.length)
    this.second = sharedArray(store.weights.length)
  }

  get arrays(): AdamArrays {
    const { weights, gradients } = this.#store
    return { weights, gradients, first: this.first, second: this.second }
  }

  /** Applies the accumulated gradients, one part per thread. A non-finite gradient is not applied. */
  async update(settings: AdamSettings, workers: readonly PassThread[]): Promise<OptimResult> {
    const { length } = this.#store.weights
    const parts = workers.length + 1
    const edge = (part: number): number => Math.floor((part * length) / parts)
    const squares = await Promise.all([
      ...workers.map((worker, index) => worker.squares(edge(index + 1), edge(index + 2))),
      sumOfSquares(this.#store.gradients, 0, edge(1)),
    ])
    const gradientNorm = Math.sqrt(squares.reduce((sum, each) => sum + each, 0))
    if (!Number.isFinite(gradientNorm)) return { step: this.step, gradientNorm }
    this.step++
    const ranges = this.#ranges(settings, gradientNorm)
    const within = (from: number, to: number): AdamRange[] =>
      ranges.flatMap((range) => {
        const cut = { ...range, from: Math.max(from, range.from), to: Math.min(to, range.to) }
        return cut.from < cut.to ? [cut] : []
      })
    const others = workers.map((worker, index) => worker.update(within(edge(index + 1), edge(index + 2))))
    for (const { from, to, numbers } of within(0, edge(1))) updateRange(this.arrays, from, to, numbers)
    await Promise.all(others)
    return { step: this.step, gradientNorm }
  }

  /** Weight decay applies only to the first part of the weights. */
  #ranges(settings: AdamSettings, gradientNorm: number): AdamRange[] {
    const { learningRate, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, maxNorm, weightDecay = 0 } = settings
    // As in PyTorch, with an epsilon against division by zero.
    const scale = maxNorm === undefined ? 1 : Math.min(1, maxNorm / (gradientNorm + 1e-6))
    const correction = Math.sqrt(1 - beta2 ** this.step)
    const numbers = {
      beta1,
      rest1: (1 - beta1) * scale,
      beta2,
      rest2: (1 - beta2) * scale * scale,
      epsilon: epsilon * correction,
      rate: (learningRate * correction) / (1 - beta1 ** this.step),
    }
    const { decayed, weights } = this.#store
    return [
      { from: 0, to: decayed, numbers: { ...numbers, keep: 1 - learningRate * weightDecay } },
      { from: decayed, to: weights.length, numbers: { ...numbers, keep: 1 } },
    ]
  }
}
