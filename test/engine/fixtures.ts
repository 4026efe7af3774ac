import { readFileSync } from 'node:fs'
import { type ModelShape, type StoredTensors, shapeFromConfig } from '../../src/engine/checkpoint/index.ts'
import { parameterShapes } from '../../src/engine/embedded/llama/parameter-shapes.ts'
import { openRuntime } from '../../src/engine/embedded/open-runtime.ts'
import { ParameterStore } from '../../src/engine/embedded/parameter-store.ts'
import type { Runtime } from '../../src/engine/embedded/runtime.ts'
import { Trainer, type TrainerOptions } from '../../src/engine/embedded/training/trainer.ts'

/** Computed by PyTorch in float64; see reference/make_fixtures.py. */
export interface Fixture {
  config: Record<string, unknown>
  config_old: Record<string, unknown>
  weights: Record<string, { shape: number[]; scale: number; values: number[] }>
  sequences: {
    inputs: number[]
    targets: number[]
    weights: number[]
    logits: number[][]
    logprobs: number[]
  }[]
  cross_entropy: { loss: number; gradients: Record<string, Digest> }
  policy: PolicyCase[]
  adamw?: {
    learning_rates: number[]
    betas: [number, number]
    eps: number
    weight_decay: number
    max_norm: number
    losses: number[]
    gradient_norms: number[]
    weights: Record<string, Digest>
  }
}

export interface PolicyCase {
  name: string
  low: number
  high: number
  dual_clip: number | null
  importance_cap: number | null
  loss: number
  gradients: Record<string, Digest>
  sequences: {
    sampler_logprobs: number[]
    old_logprobs: number[] | null
    advantages: number[]
    weights: number[]
  }[]
}

/** A complete tensor, or some of its entries with sums over all. */
export interface Digest {
  shape: number[]
  values: number[]
  indices?: number[]
  sum?: number
  sum_of_squares?: number
}

export const fixtureNames = [
  'llama',
  'llama-linear',
  'llama-llama3',
  'llama-yarn',
  'smollm2',
  'qwen2',
  'qwen3',
] as const

export function readFixture(name: string): Fixture {
  return JSON.parse(
    readFileSync(new URL(`./reference/${name}.fixture.json`, import.meta.url), 'utf8'),
  ) as Fixture
}

export function weightsOf(fixture: Fixture): StoredTensors {
  return new Map(
    Object.entries(fixture.weights).map(([name, { shape, scale, values }]) => [
      name,
      { shape, values: Float32Array.from(values, (value) => value * scale) },
    ]),
  )
}

export async function trainerOf(
  fixture: Fixture,
  options: TrainerOptions = {},
): Promise<{ trainer: Trainer; store: ParameterStore; shape: ModelShape; runtime: Runtime }> {
  const shape = shapeFromConfig(fixture.config)
  const runtime = await openRuntime({ threads: 1 })
  const store = new ParameterStore(runtime, parameterShapes(shape, undefined), weightsOf(fixture), undefined)
  return { trainer: new Trainer(runtime, shape, store, options), store, shape, runtime }
}

/** Sequences including the first token, as in the contract. */
export function examplesOf(fixture: Fixture) {
  return fixture.sequences.map(({ inputs, targets, weights }) => ({
    tokens: [inputs[0]!, ...targets],
    weights: [0, ...weights],
  }))
}

/** Difference of a tensor from the reference, relative to the typical size of its entries. */
export function distance(found: Float32Array, wanted: Digest): number {
  const size = found.length
  const squares = wanted.sum_of_squares ?? wanted.values.reduce((sum, value) => sum + value * value, 0)
  const usual = Math.sqrt(squares / size)
  const positions = wanted.indices ?? wanted.values.map((_, index) => index)
  const worst = positions.map((position, index) => {
    const value = wanted.values[index]!
    return Math.abs(found[position]! - value) / Math.max(Math.abs(value), usual, 1e-12)
  })
  if (wanted.sum !== undefined) {
    const sum = found.reduce((total, value) => total + value, 0)
    worst.push(Math.abs(sum - wanted.sum) / Math.sqrt(size * squares))
  }
  return Math.max(...worst)
}
