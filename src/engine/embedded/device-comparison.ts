import { type ModelShape, randomWeights } from '../checkpoint/index.ts'
import type { Loss, TrainingExample } from '../contract.ts'
import { parameterShapes } from './llama/parameter-shapes.ts'
import { ParameterStore } from './parameter-store.ts'
import type { Runtime } from './runtime.ts'
import { Sampler } from './sampling/sampler.ts'
import type { PassLoss } from './training/pass-loss.ts'
import { Trainer } from './training/trainer.ts'

/** Differences between a device and the CPU, relative to the largest entry. */
export interface DeviceDifferences {
  loss: number
  logprobs: number
  gradients: number
  /** Between the CPU's sampler and the device's learner. */
  sampling: number
}

/** Small, but with every node type of a larger model. */
const shape: ModelShape = {
  family: 'qwen3',
  vocabularySize: 61,
  width: 32,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headWidth: 8,
  feedForwardWidth: 48,
  contextLength: 96,
  normEpsilon: 1e-5,
  ropeBase: 10_000,
  ropeScaling: undefined,
  tiedHead: true,
  projectionBias: { queryKeyValue: true, output: false, feedForward: false },
  queryKeyNorm: true,
  // Large, so that the model is not uniform and errors are visible.
  initializerRange: 0.2,
  endTokens: [0],
}
/** The second is longer than an attention block. */
const lengths = [14, 80]
const losses: Loss[] = [
  { kind: 'cross-entropy' },
  { kind: 'policy', lowestRatio: 0.8, highestRatio: 1.28, dualClip: 3, importanceCap: 2 },
]

/** Runs the same training steps and samples on a device and on the CPU. */
export async function compareDevices(device: Runtime, cpu: Runtime): Promise<DeviceDifferences> {
  const [found, wanted] = [await outcome(device), await outcome(cpu)]
  return {
    loss: relativeDifference(found.losses, wanted.losses),
    logprobs: relativeDifference(found.logprobs, wanted.logprobs),
    gradients: Math.max(
      ...found.gradients.map((each, index) => relativeDifference(each, wanted.gradients[index]!)),
    ),
    sampling: relativeDifference(found.learned, wanted.sampled),
  }
}

async function outcome(runtime: Runtime) {
  const store = new ParameterStore(
    runtime,
    parameterShapes(shape, undefined),
    randomWeights(shape, 1),
    undefined,
  )
  const trainer = new Trainer(runtime, shape, store, {})
  const pass = (examples: TrainingExample[], passLoss: PassLoss) =>
    trainer.pass(examples, passLoss, () => undefined)
  const result = { losses: [] as number[], logprobs: [] as number[], gradients: [] as Float32Array[] }
  for (const loss of losses) {
    const { loss: sum, logprobs } = await pass(lengths.map(exampleOf), loss)
    result.losses.push(sum)
    result.logprobs.push(...logprobs.flatMap((each) => [...each]))
    for (const parameter of store.trained)
      result.gradients.push(store.part(store.gradients, parameter).slice())
    await trainer.step({ learningRate: 0.01 })
  }
  const prompt = [3, 1, 4, 1, 5]
  const sampler = new Sampler(runtime.host, shape, store, { decode: () => '' })
  const waiting = sampler.add({ prompt, maxTokens: 8, temperature: 0 })
  while (!sampler.idle) await sampler.step()
  const [sample] = await waiting
  const tokens = [...prompt, ...sample!.tokens]
  const { logprobs } = await pass([{ tokens, weights: tokens.map(() => 1) }], { kind: 'none' })
  await sampler.release()
  await trainer.release()
  return { ...result, sampled: sample!.modelLogprobs, learned: logprobs[0]!.slice(prompt.length) }
}

function exampleOf(length: number): TrainingExample {
  const each = (of: (at: number) => number): number[] => Array.from({ length }, (_, at) => of(at))
  return {
    tokens: each((at) => (at * at + 7 * at + length) % shape.vocabularySize),
    weights: each((at) => 0.5 + (at % 3)),
    advantages: each((at) => Math.sin(at)),
    // Both near and far from the model's values, so that every branch of the loss is covered.
    sampledLogprobs: each((at) => -4 + 2 * Math.cos(3 * at)),
    oldLogprobs: each((at) => -4 + 2 * Math.cos(3 * at) + 0.5 * Math.sin(5 * at)),
  }
}

/** NaN counts as infinitely different. */
function relativeDifference(found: ArrayLike<number>, wanted: ArrayLike<number>): number {
  let largest = 1e-9
  let furthest = found.length === wanted.length ? 0 : Number.POSITIVE_INFINITY
  for (let at = 0; at < wanted.length; at++) {
    largest = Math.max(largest, Math.abs(wanted[at]!))
    const distance = Math.abs(found[at]! - wanted[at]!)
    furthest = Number.isNaN(distance) ? Number.POSITIVE_INFINITY : Math.max(furthest, distance)
  }
  return furthest / largest
}
