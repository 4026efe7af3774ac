import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { RolloutJob } from '../../src/agent/contract.ts'
import {
  type AdamSettings,
  type Engine,
  type Loss,
  openEmbedded,
  type TrainingExample,
} from '../../src/engine/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Rollout } from '../../src/schema/index.ts'
import { run as train } from '../../src/stages/rl/index.ts'
import { createRun } from '../../src/store/index.ts'
import { spansFrom } from '../rollout/spans.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { banditShape } from './bandit.ts'
import { makeRollout, makeTask, wrong } from './make-rollout.ts'

// A whole step of the preset "dapo" beside verl's formulas (core_algos, dapo_ray_trainer, the DAPO reward manager),
// written out here on plain arrays. Nothing of src/stages/rl's arithmetic is used.

const TEMPERATURE = 0.8
const MAX_TOKENS = 20
const GROUPS = 4
const G = 4
const VOCABULARY = banditShape.vocabularySize
const note = { stage: 'sft', step: 5, createdAt: '2026-01-01T00:00:00.000Z' } as const

/** The attempts at a task: correct (1), wrong (0), or timed out (t). */
const outcomes = ['1010', '1111', '0000', 't100', '0001', '111t']

/** Deterministic for a task and attempt: some tokens, an observation, more tokens. */
function scripted({ id, groupId, task, seed }: RolloutJob): Rollout {
  const [place, number] = [Number(task.id.slice(1)), Number(id.split('-').at(-1))]
  const outcome = outcomes[place % outcomes.length]![number]
  const token = (at: number): number => (place * 5 + number * 3 + at * at * 7 + at) % VOCABULARY
  // Every second task has rollouts that end within the last fifth of the maximum length.
  const length = place % 2 === 0 ? 15 + ((number * 2) % 6) : 6 + number
  const first = 3 + (number % 2)
  const sampled = (from: number, to: number) => {
    const tokens = Array.from({ length: to - from }, (_, at) => token(from + at))
    return { sampled: tokens, logprobs: tokens.map(() => -2.5) }
  }
  return makeRollout({
    id,
    groupId,
    taskId: task.id,
    seed,
    ...spansFrom([
      { prompt: [place % VOCABULARY, 1, 2] },
      sampled(0, first),
      { inserted: [3, 3] },
      sampled(first + 2, length),
    ]),
    ...(outcome === '1' ? {} : { verdict: wrong }),
    ...(outcome === 't' ? { stop: 'time' as const } : {}),
  })
}

interface Seen {
  examples: readonly TrainingExample[]
  loss: Loss
  value: number
  /** The weights at the time of the pass. */
  weights: string
}

/** The engine, recording requests and a copy of the weights at each pass. */
function recorder(engine: Engine, folder: string) {
  const passes: Seen[] = []
  const steps: { settings: AdamSettings; gradientNorm: number; step: number }[] = []
  const recording: Engine = {
    describe: () => engine.describe(),
    sample: (request) => engine.sample(request),
    forward: (...given) => engine.forward(...given),
    forwardBackward: async (examples, loss, signal) => {
      const weights = join(folder, `pass-${passes.length}`)
      await engine.save(weights, note)
      const result = await engine.forwardBackward(examples, loss, signal)
      passes.push({ examples, loss, value: result.loss, weights })
      return result
    },
    optimStep: async (settings) => {
      const result = await engine.optimStep(settings)
      steps.push({ settings, ...result })
      return result
    },
    save: (...given) => engine.save(...given),
    load: (...given) => engine.load(...given),
    close: () => engine.close(),
  }
  return { recording, passes, steps }
}

/** A trained token of a response. */
interface Token {
  prefix: number[]
  target: number
  advantage: number
}

/** Log-probabilities of the whole vocabulary after each prefix, at temperature 1. */
async function distributions(engine: Engine, tokens: readonly Token[]): Promise<number[][]> {
  const { logprobs } = await engine.forward(
    tokens.flatMap(({ prefix }) =>
      Array.from({ length: VOCABULARY }, (_, next) => ({
        tokens: [...prefix, next],
        weights: [...prefix.map(() => 0), 1],
      })),
    ),
  )
  return tokens.map(({ prefix }, index) =>
    logprobs.slice(index * VOCABULARY, (index + 1) * VOCABULARY).map((each) => each[prefix.length]!),
  )
}

/** verl divides the logits by the temperature before it takes the softmax (dp_actor). */
function atTemperature(logprobs: readonly number[]): number[] {
  const logits = logprobs.map((value) => value / TEMPERATURE)
  const most = Math.max(...logits)
  const total = most + Math.log(logits.reduce((sum, value) => sum + Math.exp(value - most), 0))
  return logits.map((value) => value - total)
}

/** The reward manager: the score minus the overlong penalty. */
function rewardOf(rollout: Rollout): number {
  const length = rollout.spans.reduce((sum, { tokens }) => sum + tokens!.length, 0)
  const buffer = MAX_TOKENS / 5
  const exceeding = length - (MAX_TOKENS - buffer)
  return (rollout.verdict!.outcome === 'correct' ? 1 : 0) + Math.min((-exceeding / buffer) * 1, 0)
}

/** compute_grpo_outcome_advantage: torch.std is unbiased, epsilon is 1e-6. */
function advantagesOf(rewards: readonly number[]): number[] {
  const mean = rewards.reduce((sum, value) => sum + value, 0) / rewards.length
  const variance = rewards.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (rewards.length - 1)
  return rewards.map((value) => (value - mean) / (Math.sqrt(variance) + 1e-6))
}

/** filter_groups by acc: generation batches are added until there are enough groups, and the rest is cut off. */
function trainedGroups(batches: readonly Rollout[][][]): Rollout[][] {
  const batch: Rollout[][] = []
  for (const groups of batches) {
    for (const group of groups) {
      const accuracies = group.map(({ verdict }) => (verdict!.outcome === 'correct' ? 1 : 0))
      if (new Set(accuracies).size > 1) batch.push(group)
    }
    if (batch.length >= GROUPS) break
  }
  return batch.slice(0, GROUPS)
}

/** compute_policy_loss_vanilla with token-mean: the loss, and its derivative by each token's log-probability. */
function policyLoss(tokens: readonly Token[], now: readonly number[], old: readonly number[]) {
  const met = { low: 0, high: 0, dual: 0 }
  let sum = 0
  const slopes = tokens.map(({ advantage }, at) => {
    const apart = Math.min(Math.max(now[at]! - old[at]!, -20), 20)
    const ratio = Math.exp(apart)
    const [plain, clipped, dual] = [
      -advantage * ratio,
      -advantage * Math.min(Math.max(ratio, 1 - 0.2), 1 + 0.28),
      -advantage * 10,
    ]
    let loss = Math.max(plain, clipped)
    let slope = plain >= clipped ? plain : 0
    if (clipped > plain) met[advantage < 0 ? 'low' : 'high']++
    if (advantage < 0 && dual < loss) {
      loss = dual
      slope = 0
      met.dual++
    }
    sum += loss
    return (Math.abs(now[at]! - old[at]!) > 20 ? 0 : slope) / tokens.length
  })
  return { loss: sum / tokens.length, slopes, met }
}

function tokensOf(group: readonly Rollout[]): Token[] {
  const advantages = advantagesOf(group.map(rewardOf))
  return group.flatMap(({ promptTokens, spans }, member) => {
    const all = [...promptTokens!, ...spans.flatMap(({ tokens }) => tokens!)]
    const isSampled = [
      ...promptTokens!.map(() => false),
      ...spans.flatMap(({ tokens, origin }) => tokens!.map(() => 'request' in origin)),
    ]
    return all.flatMap((target, at) =>
      isSampled[at] ? [{ prefix: all.slice(0, at), target, advantage: advantages[member]! }] : [],
    )
  })
}

it('matches verl, from the rollouts to the gradient of each update', async () => {
  const folder = temporaryFolder()
  const engine = await openWithHistory(join(folder, 'model'))
  const twin = await openEmbedded({ model: join(folder, 'model'), threads: 1 })
  const run = createRun(folder, { id: 'r', command: 'test', coa: '0' })
  onTestFinished(async () => {
    run.close()
    await Promise.all([engine.close(), twin.close()])
  })
  const { recording, passes, steps } = recorder(engine, folder)
  const rollouts = new Map<number, Rollout[]>()
  await train(
    ProjectConfig.parse({
      rollout: { temperature: TEMPERATURE, max_tokens: MAX_TOKENS },
      rl: { steps: 1, groups: GROUPS, group_size: G, mini_batches: 2, learning_rate: 1, eval_every: 0 },
    }),
    {
      run,
      signal: new AbortController().signal,
      observe: () => undefined,
      student: { engine: recording },
      tasks: Array.from({ length: 24 }, (_, place) => makeTask(`t${place}`)),
      rollOut: async (job) => {
        const rollout = scripted(job)
        const draw = Number(job.groupId.split('-').at(-1))
        rollouts.set(draw, [...(rollouts.get(draw) ?? []), rollout])
        return rollout
      },
    },
  )

  // Timed-out rollouts are masked, as in AFM; everything else is up to verl's filter.
  const sampled = [...rollouts].sort(([one], [other]) => one - other)
  expect(sampled.length).toBeGreaterThan(GROUPS)
  const fair = sampled.map(([, group]) => group.filter(({ stop }) => stop !== 'time'))
  const batches = Array.from({ length: 10 }, (_, at) => fair.slice(at * GROUPS, (at + 1) * GROUPS))
  const trained = trainedGroups(batches)
  expect(trained.length).toBe(GROUPS)
  expect(trained.flat().some((rollout) => rewardOf(rollout) < 0)).toBe(true)

  // A fresh optimizer in the first of ten warmup steps.
  const adam = { learningRate: 0.1, beta2: 0.999, weightDecay: 0.1, maxNorm: 1 }
  expect(steps.map(({ settings, step }) => ({ settings, step }))).toEqual([
    { settings: adam, step: 1 },
    { settings: adam, step: 2 },
  ])

  const miniBatches = [trained.slice(0, 2), trained.slice(2)].map((groups) => groups.flatMap(tokensOf))
  await twin.load(passes[0]!.weights)
  const olds = await Promise.all(miniBatches.map((tokens) => distributions(twin, tokens)))
  const met = { low: 0, high: 0, dual: 0 }
  for (const [update, tokens] of miniBatches.entries()) {
    const seen = passes[update]!
    await twin.load(seen.weights)
    const now = (await distributions(twin, tokens)).map(atTemperature)
    const old = olds[update]!.map(atTemperature)
    const chosen = (all: readonly number[][]): number[] => all.map((each, at) => each[tokens[at]!.target]!)
    const expected = policyLoss(tokens, chosen(now), chosen(old))
    for (const name of ['low', 'high', 'dual'] as const) met[name] += expected.met[name]
    // The first update is computed without ratios, as they are all 1: only its gradient is that of the loss.
    expect(seen.loss.kind).toBe(update === 0 ? 'cross-entropy' : 'policy')
    if (update > 0)
      expect(Math.abs(seen.value - expected.loss)).toBeLessThan(1e-6 * Math.max(1, Math.abs(expected.loss)))
    // The same pass again, minus verl's gradient via the logits: nothing may remain.
    await twin.forwardBackward(seen.examples, seen.loss)
    await twin.forwardBackward(againstIt(tokens, now, expected.slopes), { kind: 'cross-entropy' })
    const { gradientNorm: left } = await twin.optimStep({ learningRate: 0 })
    expect(steps[update]!.gradientNorm).toBeGreaterThan(0.01)
    expect(left / steps[update]!.gradientNorm).toBeLessThan(1e-6)
  }
  // Otherwise the test would not have exercised the clipping.
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(0)
})

/**
 * ∂ log p(target) / ∂ logit v is ([v = target] − p(v)) / T; as these sum to 0, log-probabilities can stand in for
 * logits.
 */
function againstIt(
  tokens: readonly Token[],
  now: readonly number[][],
  slopes: readonly number[],
): TrainingExample[] {
  return tokens.flatMap(({ prefix, target }, at) =>
    Array.from({ length: VOCABULARY }, (_, next) => {
      const share = (Number(next === target) - Math.exp(now[at]![next]!)) / TEMPERATURE
      // Cross-entropy is minus the weighted sum of log-probabilities, and here it opposes the gradient.
      return { tokens: [...prefix, next], weights: [...prefix.map(() => 0), slopes[at]! * share] }
    }),
  )
}

/** A model that has been trained before, so that its checkpoint has moments that must not be reused. */
async function openWithHistory(model: string): Promise<Engine> {
  const first = await openEmbedded({ model: { shape: banditShape, seed: 3 }, threads: 1 })
  const lesson = { tokens: [1, 2, 3, 4, 5], weights: [0, 1, 1, 1, 1] }
  for (let step = 0; step < 5; step++) {
    await first.forwardBackward([lesson], { kind: 'cross-entropy' })
    await first.optimStep({ learningRate: 0.01 })
  }
  await first.save(model, note)
  await first.close()
  return openEmbedded({ model, threads: 1 })
}
