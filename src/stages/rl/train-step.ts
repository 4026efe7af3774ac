import type { Engine } from '../../engine/index.ts'
import { advantagesOf } from './advantages.ts'
import type { RlSettings } from './config.ts'
import { examplesOf, type PolicyExample } from './examples.ts'
import type { Group } from './groups.ts'
import { klExamples, klSum, normalizeWeights, policyLoss, unclippedLoss } from './loss.ts'
import { mismatchOf, type TokenMetrics, TokenTally } from './token-tally.ts'

export interface Learner {
  engine: Pick<Engine, 'forward' | 'forwardBackward' | 'optimStep'>
  /** A frozen copy of the initial model; needed for rl.kl. */
  reference?: Pick<Engine, 'forward'> | undefined
}

export type TrainSettings = Pick<
  RlSettings,
  | 'advantage'
  | 'normalise'
  | 'mini_batches'
  | 'clip_low'
  | 'clip_high'
  | 'dual_clip'
  | 'importance_cap'
  | 'old_logprobs'
  | 'kl'
  | 'temperature'
  | 'isMasked'
  | 'beta2'
  | 'weight_decay'
  | 'max_norm'
>

export interface TrainMetrics extends TokenMetrics {
  updates: number
  gradientNorm: number
  /** Before the first update of the step. */
  mismatch: { mean: number; max: number }
  /** Mean KL divergence from the reference; undefined if not requested. */
  kl: number | undefined
  /** Time spent waiting for `beforeUpdate`. */
  waitedMs: number
}

export interface TrainOptions {
  learningRate: number
  signal?: AbortSignal
  /** Awaited before the first weight update. */
  beforeUpdate?: () => Promise<unknown> | undefined
}

/** The updates of one step. Advantages are computed over the whole step; each update uses its share of the groups. */
export async function trainStep(
  { engine, reference }: Learner,
  groups: readonly Group[],
  settings: TrainSettings,
  options: TrainOptions,
): Promise<TrainMetrics> {
  const { signal, learningRate, beforeUpdate } = options
  const { temperature } = settings
  const loss = policyLoss(settings)
  const tally = new TokenTally()
  const norms: number[] = []
  const kl = { sum: 0, tokens: 0 }
  let mismatch: TrainMetrics['mismatch'] | undefined
  let waitedMs = 0
  let rollouts = rolloutsOf(groups, settings)
  if (settings.old_logprobs === 'learner') {
    const { logprobs } = await engine.forward(rollouts.flat(2), signal, temperature)
    mismatch = mismatchOf(rollouts.flat(2), logprobs)
    rollouts = withOldLogprobs(rollouts, logprobs)
  }
  for (const batch of splitEvenly(rollouts, settings.mini_batches)) {
    const examples = normalizeWeights(batch.flat(), settings.normalise)
    if (examples.length === 0) continue
    const { logprobs } = await engine.forwardBackward(examples, loss, signal)
    tally.add(examples, logprobs, loss)
    mismatch ??= mismatchOf(examples, logprobs)
    if (reference !== undefined && settings.kl > 0) {
      const { logprobs: first } = await reference.forward(examples, signal, temperature)
      const { sum, tokens } = klSum(examples, logprobs, first)
      kl.sum += sum
      kl.tokens += tokens
      const klBatch = klExamples(examples, logprobs, first, settings.kl)
      await engine.forwardBackward(klBatch, unclippedLoss(temperature), signal)
    }
    if (norms.length === 0) {
      const began = performance.now()
      await beforeUpdate?.()
      waitedMs = performance.now() - began
    }
    const { gradientNorm } = await engine.optimStep({
      learningRate,
      beta2: settings.beta2,
      weightDecay: settings.weight_decay,
      ...(settings.max_norm > 0 ? { maxNorm: settings.max_norm } : {}),
    })
    norms.push(gradientNorm)
  }
  return {
    ...tally.metrics(),
    updates: norms.length,
    gradientNorm: norms.reduce((sum, norm) => sum + norm, 0) / Math.max(1, norms.length),
    mismatch: mismatch ?? { mean: 0, max: 0 },
    kl: settings.kl > 0 ? kl.sum / Math.max(1, kl.tokens) : undefined,
    waitedMs,
  }
}

/** Examples of each rollout of each group. */
type Examples = PolicyExample[][][]

function rolloutsOf(groups: readonly Group[], settings: TrainSettings): Examples {
  const advantages = advantagesOf(
    groups.map(({ members }) => members.map(({ reward }) => reward)),
    settings.advantage,
  )
  return groups.map(({ members }, group) =>
    members.map(({ rollout }, member) => examplesOf(rollout, advantages[group]![member]!, settings.isMasked)),
  )
}

function withOldLogprobs(rollouts: Examples, logprobs: readonly Float32Array[]): Examples {
  let next = 0
  return rollouts.map((group) =>
    group.map((examples) => examples.map((example) => ({ ...example, oldLogprobs: logprobs[next++]! }))),
  )
}

/** Splits items into parts, in order, whose sizes differ by at most one. */
function splitEvenly<T>(items: readonly T[], parts: number): T[][] {
  return Array.from({ length: parts }, (_, part) =>
    items.slice(Math.floor((part * items.length) / parts), Math.floor(((part + 1) * items.length) / parts)),
  )
}

export interface RateSettings {
  learning_rate: number
  warmup_steps: number
  final_share: number
  steps: number
}

/**
 * The learning rate of a step, from 1: linear warmup, then linear decay to its final share. Adam's updates are as
 * large for noise as for signal; late in training, when few groups still differ, a constant rate only adds noise.
 */
export function learningRateAt(
  step: number,
  { learning_rate, warmup_steps, final_share, steps }: RateSettings,
): number {
  if (step < warmup_steps) return (learning_rate * step) / warmup_steps
  const first = Math.max(1, warmup_steps)
  const progress = Math.min(1, (step - first) / Math.max(1, steps - first))
  return learning_rate * (1 + (final_share - 1) * progress)
}
