import type { AdamSettings, OptimResult } from '../../contract.ts'
import { Graph, type Tensor } from '../graph/graph.ts'
import type { ParameterStore } from '../parameter-store.ts'
import type { Program, Runtime } from '../runtime.ts'

/** Numbers taken at a time: all that is held of them fits into a core's cache, and the steps between never leave it. */
const CHUNK = 65_536
const SIZE = -1

const numbers = ['beta1', 'rest1', 'beta2', 'rest2', 'epsilon', 'rate', 'keep'] as const

/** AdamW over all trained weights. Moments lie as the weights do. */
export class Adam {
  readonly first: Float32Array
  readonly second: Float32Array
  step = 0
  readonly #store: ParameterStore
  readonly #runtime: Runtime
  #program: Program | undefined

  constructor(runtime: Runtime, store: ParameterStore) {
    this.#runtime = runtime
    this.#store = store
    this.first = new Float32Array(store.weights.length)
    this.second = new Float32Array(store.weights.length)
  }

  /** Applies the gathered gradients, which are left as they are. */
  async update(settings: AdamSettings): Promise<OptimResult> {
    const { gradients, decayed } = this.#store
    const gradientNorm = lengthOf(gradients)
    // Written so that a gradient without a number is never applied: see the caller.
    if (!Number.isFinite(gradientNorm)) return { step: this.step, gradientNorm }
    this.step++
    const { maxNorm, weightDecay = 0 } = settings
    // As PyTorch has it, with a small number against division by zero.
    const scale = maxNorm === undefined ? 1 : Math.min(1, maxNorm / (gradientNorm + 1e-6))
    await this.#range(0, decayed, settings, scale, weightDecay)
    await this.#range(decayed, gradients.length, settings, scale, 0)
    return { step: this.step, gradientNorm }
  }

  release(): Promise<void> {
    return this.#program?.release() ?? Promise.resolve()
  }

  async #range(
    from: number,
    to: number,
    settings: AdamSettings,
    scale: number,
    decay: number,
  ): Promise<void> {
    const { learningRate, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8 } = settings
    // Clipping and both corrections are folded into these few numbers, so that none of them takes a pass of its own.
    const correction = Math.sqrt(1 - beta2 ** this.step)
    const value: Record<(typeof numbers)[number], number> = {
      beta1,
      rest1: (1 - beta1) * scale,
      beta2,
      rest2: (1 - beta2) * scale * scale,
      epsilon: epsilon * correction,
      rate: (learningRate * correction) / (1 - beta1 ** this.step),
      keep: 1 - learningRate * decay,
    }
    this.#program ??= await this.#runtime.load(adamGraph())
    const fixed = numbers.map(
      (name) => [name, this.#runtime.value(Float32Array.of(value[name]), [1])] as const,
    )
    const { weights, gradients } = this.#store
    const arrays = { weights, gradients, first: this.first, second: this.second }
    for (let start = from; start < to; start += CHUNK) {
      const end = Math.min(to, start + CHUNK)
      const parts = Object.entries(arrays).map(
        ([name, array]) => [name, this.#runtime.value(array.subarray(start, end), [end - start])] as const,
      )
      const inputs = new Map([...fixed, ...parts])
      // Each result goes where it came from: every number is read before its place is written.
      const outputs = new Map(
        parts.filter(([name]) => name !== 'gradients').map(([name, part]) => [`next ${name}`, part]),
      )
      await this.#program.run(inputs, outputs)
    }
  }
}

function adamGraph(): Graph {
  const graph = new Graph()
  const [weights, gradients, first, second] = ['weights', 'gradients', 'first', 'second'].map((name) =>
    graph.input(name, [SIZE]),
  ) as [Tensor, Tensor, Tensor, Tensor]
  const number = Object.fromEntries(numbers.map((name) => [name, graph.input(name, [1])])) as Record<
    (typeof numbers)[number],
    Tensor
  >
  const op = (name: string, ...inputs: Tensor[]): Tensor => graph.node(name, inputs, [SIZE])
  const nextFirst = op('Add', op('Mul', first, number.beta1), op('Mul', gradients, number.rest1))
  const squared = op('Mul', gradients, gradients)
  const nextSecond = op('Add', op('Mul', second, number.beta2), op('Mul', squared, number.rest2))
  const size = op('Add', op('Sqrt', nextSecond), number.epsilon)
  const change = op('Mul', op('Div', nextFirst, size), number.rate)
  graph.output('next first', nextFirst)
  graph.output('next second', nextSecond)
  graph.output('next weights', op('Sub', op('Mul', weights, number.keep), change))
  return graph
}

/** In four sums side by side: one alone waits for each addition before the next. */
function lengthOf(array: Float32Array): number {
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  const whole = array.length - (array.length % 4)
  for (let at = 0; at < whole; at += 4) {
    first += array[at]! * array[at]!
    second += array[at + 1]! * array[at + 1]!
    third += array[at + 2]! * array[at + 2]!
    fourth += array[at + 3]! * array[at + 3]!
  }
  for (let at = whole; at < array.length; at++) first += array[at]! * array[at]!
  return Math.sqrt(first + second + third + fourth)
}
