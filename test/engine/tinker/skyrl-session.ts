import { join } from 'node:path'
import {
  type Engine,
  normalized,
  openTinker,
  type Sample,
  type TinkerOptions,
} from '../../../src/engine/index.ts'

const text = (value: string): number[] => [...Buffer.from(value)]

export interface SessionFindings {
  contract: unknown
  losses: number[]
  /** Gradient norms relative to the first: one sequence, with a longer one, half weights, two passes. */
  norms: number[]
  samples: Sample[]
  /** Largest difference between the sampler's and the learner's log-probabilities of the sampled tokens. */
  difference: number
  /** Increase in each rollout's log-probability. */
  moved: number[]
  /** Largest difference in log-probability between saving and loading. */
  reloaded: number
}

/** A session with a Tinker server: probe, steps of both losses, sampling, saving and loading. */
export async function runSession(options: TinkerOptions, folder: string): Promise<SessionFindings> {
  const engine = await openTinker({
    ...options,
    lora: { rank: 4, seed: 3 },
    contextLength: 160,
    vocabularySize: 259,
  })
  const lesson = ['a team of agents', 'short'].map((value) => ({
    tokens: text(value),
    weights: text(value).map((_, at) => (at % 2 === 0 ? 1 : 0.5)),
  }))
  const norms = await measuredNorms(engine)
  const losses: number[] = []
  for (let step = 0; step < 2; step++) {
    losses.push((await engine.forwardBackward(normalized(lesson), { kind: 'cross-entropy' })).loss)
    await engine.optimStep({ learningRate: 1e-2 })
  }
  const prompt = text('pick ')
  const samples = await engine.sample({ prompt, maxTokens: 4, seed: 1, count: 2 })
  const rollouts = samples.map((sample, index) => {
    const inPrompt = prompt.map(() => 0)
    const tokens = [...prompt, ...sample.tokens]
    return {
      tokens,
      weights: [...inPrompt, 1, 1, 1, 1],
      sampledLogprobs: [...inPrompt, ...sample.modelLogprobs],
      advantages: tokens.map(() => (index === 0 ? 1 : -1)),
    }
  })
  const before = await logprobsOf(engine, rollouts)
  const loss = { kind: 'policy', lowestRatio: 0.8, highestRatio: 1.28, dualClip: 3 } as const
  losses.push((await engine.forwardBackward(normalized(rollouts), loss)).loss)
  await engine.optimStep({ learningRate: 1e-3 })
  const after = await logprobsOf(engine, rollouts)
  const path = join(folder, 'saved')
  await engine.save(path, { stage: 'rl', step: 3, createdAt: '2026-01-01T00:00:00Z' })
  await engine.forwardBackward(lesson, { kind: 'cross-entropy' })
  await engine.optimStep({ learningRate: 1e-1 })
  await engine.load(path)
  const again = await logprobsOf(engine, rollouts)
  await engine.close()
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const largest = (values: readonly number[]): number => Math.max(...values.map(Math.abs))
  return {
    contract: engine.contract,
    losses,
    norms,
    samples,
    difference: largest(
      samples.flatMap(({ modelLogprobs }, index) =>
        [...modelLogprobs].map((value, at) => value - before[index]![at]!),
      ),
    ),
    moved: after.map((values, index) => sum(values) - sum(before[index]!)),
    reloaded: largest(
      after.flatMap((values, index) => values.map((value, at) => value - again[index]![at]!)),
    ),
  }

  async function logprobsOf(
    learner: Engine,
    examples: Parameters<Engine['forward']>[0],
  ): Promise<number[][]> {
    const { logprobs } = await learner.forward(examples)
    return logprobs.map((each) => [...each.slice(prompt.length)])
  }
}

/** A plain sum must give 1, 2, 0.5 and 2, however the server treats sequences of different lengths. */
async function measuredNorms(engine: Engine): Promise<number[]> {
  const tokens = text('one, two')
  const tail = text(', and a tail that does not count')
  const short = { tokens, weights: tokens.map(() => 1) }
  const long = { tokens: [...tokens, ...tail], weights: [...short.weights, ...tail.map(() => 0)] }
  const half = { tokens, weights: tokens.map(() => 0.5) }
  const norms: number[] = []
  for (const passes of [[[short]], [[short, long]], [[half]], [[short], [long]]]) {
    for (const examples of passes) await engine.forwardBackward(examples, { kind: 'cross-entropy' })
    norms.push((await engine.optimStep({ learningRate: 0 })).gradientNorm)
  }
  return norms.map((norm) => norm / norms[0]!)
}
