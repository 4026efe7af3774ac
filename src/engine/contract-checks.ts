import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { randomStream } from './checkpoint/index.ts'
import type { Engine, Sample, SampleRequest, TrainingExample } from './contract.ts'

/** An engine with the weights of a folder; each check starts with them and restores them. */
export interface Subject {
  engine: Engine
  folder: string
  /** A folder to write to. */
  scratch: string
}

export interface Finding {
  /** The measured value and its limit. */
  figure: number
  limit: number
  /** Description of the measured value. */
  found: string
  /** False if something other than the measured value is wrong. */
  ok?: boolean
}

/** Float32 log-probabilities differ by about 1e-5 over many layers when sums are computed in another order. */
const CLOSE = 1e-3

export async function samplerAndLearner({ engine }: Subject): Promise<Finding> {
  const prompt = tokensOf(engine, 'prompt', 24)
  const sample = await one(engine, { prompt, maxTokens: lengthFor(engine, 48), seed: 1 })
  const { logprobs } = await engine.forward([example([...prompt, ...sample.tokens])])
  const figure = furthest(sample.modelLogprobs, logprobs[0]!.subarray(prompt.length))
  return { figure, limit: CLOSE, found: 'largest difference in log-probability' }
}

export async function batchComposition({ engine }: Subject): Promise<Finding> {
  const request = { prompt: tokensOf(engine, 'alone', 17), maxTokens: lengthFor(engine, 24), seed: 3 }
  const alone = await one(engine, request)
  const others = [5, 30, 60].map((length, seed) =>
    engine.sample({ prompt: tokensOf(engine, `other ${seed}`, length), maxTokens: 20, seed }),
  )
  const [[among]] = await Promise.all([engine.sample(request), ...others])
  const texts = [9, 40, 70].map((length) => example(tokensOf(engine, `text ${length}`, length)))
  const together = await engine.forward(texts)
  const differences = [furthest(alone.modelLogprobs, among!.modelLogprobs)]
  for (const [index, text] of texts.entries()) {
    differences.push(furthest((await engine.forward([text])).logprobs[0]!, together.logprobs[index]!))
  }
  return {
    ok: String(alone.tokens) === String(among!.tokens),
    figure: Math.max(...differences),
    limit: CLOSE,
    found: 'largest difference between a sequence alone and in a batch',
  }
}

export async function prefixReuse({ engine, folder }: Subject): Promise<Finding> {
  const prompt = tokensOf(engine, 'prefix', 30)
  const first = await one(engine, { prompt, maxTokens: 12, seed: 1 })
  const longer = [...prompt, ...first.tokens, ...tokensOf(engine, 'appended', 10)]
  const request = { prompt: longer, maxTokens: 12, seed: 2 }
  const continued = await one(engine, request)
  // Loading clears the prefix cache.
  await engine.load(folder)
  const fresh = await one(engine, request)
  return {
    ok:
      String(continued.tokens) === String(fresh.tokens) &&
      continued.reused >= prompt.length &&
      fresh.reused === 0,
    figure: furthest(continued.modelLogprobs, fresh.modelLogprobs),
    limit: CLOSE,
    found: `largest difference from an uncached run; ${continued.reused} of ${longer.length} tokens reused`,
  }
}

/** Target change of the loss per token between the two evaluations: well above rounding, well below curvature. */
const LOSS_CHANGE = 4e-3
/** So large that an Adam step becomes a plain gradient step. */
const PLAIN = 1e6

/**
 * Gradient check: compares the slope of the loss L along the gradient r of a randomly weighted loss R, by finite
 * differences, with r·g. The contract exposes only gradient norms, which give |g + r|² − |g − r|² = 4 r·g.
 */
export async function gradient({ engine, folder }: Subject): Promise<Finding> {
  const texts = [40, 25, 60].map((length) => tokensOf(engine, `slope ${length}`, length))
  const random = randomStream('weights of a direction')
  const weights = texts.map((text) => text.map(() => (random() / 2 ** 32) * 4 - 1))
  const weighed = (of: (text: number, position: number) => number): TrainingExample[] =>
    texts.map((tokens, text) => ({ tokens, weights: tokens.map((_, position) => of(text, position)) }))
  const pass = (examples: TrainingExample[]) => engine.forwardBackward(examples, { kind: 'cross-entropy' })
  const norm = async (factor: number, own: number): Promise<number> => {
    await pass(weighed((text, position) => own + factor * weights[text]![position]!))
    return (await engine.optimStep({ learningRate: 0 })).gradientNorm
  }
  const [sum, difference, along] = [await norm(1, 1), await norm(-1, 1), await norm(1, 0)]
  const expected = (sum ** 2 - difference ** 2) / 4
  const count = texts.flat().length
  const distance = (LOSS_CHANGE * count) / Math.abs(expected)
  const lossAt = async (factor: number): Promise<number> => {
    await engine.load(folder)
    // A step descends, so the direction is negated to ascend.
    await pass(weighed((text, position) => -factor * weights[text]![position]!))
    await engine.optimStep({ learningRate: distance * PLAIN, beta1: 0, beta2: 0, epsilon: PLAIN })
    const { logprobs } = await engine.forward(texts.map(example))
    // In double precision: the engine's own sum would lose the difference to rounding.
    return -logprobs.reduce((total, each) => each.reduce((part, value) => part + value, total), 0)
  }
  const measured = ((await lossAt(1)) - (await lossAt(-1))) / (2 * distance)
  await engine.load(folder)
  return {
    figure: Math.abs(measured / expected - 1),
    limit: 0.01,
    found: `relative error of the slope, over a step of ${(distance * along).toPrecision(2)}`,
  }
}

export async function saveAndLoad({ engine, folder, scratch }: Subject): Promise<Finding> {
  const texts = [30, 50].map((length) => example(tokensOf(engine, `lesson ${length}`, length)))
  const step = async (): Promise<number> => {
    const { loss } = await engine.forwardBackward(texts, { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 1e-4, maxNorm: 1 })
    return loss
  }
  const saved = join(scratch, 'saved')
  await step()
  await engine.save(saved, { stage: 'sft', step: 1, createdAt: new Date().toISOString() })
  const uninterrupted = [await step(), await step(), await step()]
  await engine.load(saved)
  const again = [await step(), await step(), await step()]
  await engine.load(folder)
  rmSync(saved, { recursive: true, force: true })
  return {
    figure: furthest(uninterrupted, again),
    // On a CPU the order of additions is fixed, so results are bit-identical; a GPU does not guarantee an order.
    limit: engine.describe().device.startsWith('webgpu') ? CLOSE : 0,
    found: 'largest difference in loss over three steps after loading',
  }
}

async function one(engine: Engine, request: SampleRequest): Promise<Sample> {
  return (await engine.sample(request))[0]!
}

function example(tokens: number[]): TrainingExample {
  return { tokens, weights: tokens.map(() => 1) }
}

/** Random tokens, the same every time. */
function tokensOf(engine: Engine, name: string, length: number): number[] {
  const { vocabularySize } = engine.describe()
  const random = randomStream(name)
  return Array.from({ length: lengthFor(engine, length) }, () => random() % vocabularySize)
}

/** Short enough that two fit into a short context. */
function lengthFor(engine: Engine, length: number): number {
  return Math.max(2, Math.min(length, Math.floor(engine.describe().contextLength / 4)))
}

function furthest(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY
  return Math.max(0, ...Array.from(one, (value, at) => Math.abs(value - other[at]!)))
}
