import type { Engine, TrainingExample } from '../../engine/index.ts'
import { advantagesOf } from './advantages.ts'
import type { RlSettings } from './config.ts'
import type { Group } from './contract.ts'
import { examplesOf, type PolicyExample } from './examples.ts'
import { klExamples, klSum, normalizeWeights, policyLoss, unclippedLoss } from './loss.ts'
import { sequenceRatios, tokenRatios, weightedByAdvantage, weightedByRatio } from './ratios.ts'
import { mismatchOf, type TokenMetrics, TokenTally } from './token-tally.ts'

export interface Learner {
  engine: Pick<Engine, 'forward' | 'forwardBackward' | 'optimStep'>
  /** A frozen copy of the initial model, or another one; needed for rl.kl. */
  reference?: Pick<Engine, 'forward'> | undefined
}

export type TrainSettings = Pick<
  RlSettings,
  | 'advantage'
  | 'normalise'
  | 'mini_batches'
  | 'clip_low'
  | 'clip_high'
  | 'loss'
  | 'dual_clip'
  | 'importance_cap'
  | 'old_logprobs'
  | 'kl'
  | 'kl_estimate'
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
}

export interface TrainOptions {
  learningRate: number
  /** Abandons the step before its first update; after that, the step is finished. */
  signal?: AbortSignal
  /** Weighted examples whose cross-entropy is added to the first update of the step. */
  replay?: readonly TrainingExample[]
  /** Called before each weight update; `isLast` for the last of the step. */
  onUpdate?: (isLast: boolean) => void
}

/** The updates of one step. Advantages are computed over the whole step; each update uses its share of the groups. */
export async function trainStep(
  { engine, reference }: Learner,
  groups: readonly Group[],
  settings: TrainSettings,
  options: TrainOptions,
): Promise<TrainMetrics> {
  const { learningRate, onUpdate, replay = [] } = options
  let { signal } = options
  const { temperature } = settings
  const tally = new TokenTally()
  const norms: number[] = []
  const kl = { sum: 0, tokens: 0 }
  const batches = splitEvenly(rolloutsOf(groups, settings), settings.mini_batches).filter(
    (batch) => batch.flat(2).length > 0,
  )
  const isDirect = isFirstUpdateDirect(settings)
  const old = await oldLogprobs(engine, batches, settings, isDirect, signal)
  const before = { examples: [...old.examples], logprobs: [...old.logprobs] }
  for (const [index, batch] of batches.entries()) {
    const rollouts = (old.batches[index] ?? batch).flat()
    const examples = normalizeWeights(rollouts, settings.normalise)
    const ownRatio = isDirect && index === 0
    const { logprobs, ratios } = await passOf(engine, rollouts, examples, settings, ownRatio, signal)
    tally.add(ownRatio ? withOldLogprobs(examples, logprobs) : examples, ratios, policyLoss(settings))
    if (index === 0 && old.batches[0] === undefined) {
      before.examples.push(...examples)
      before.logprobs.push(...logprobs)
    }
    if (reference !== undefined && settings.kl > 0) {
      const { logprobs: first } = await reference.forward(examples, signal, temperature)
      const { sum, tokens } = klSum(examples, logprobs, first)
      kl.sum += sum
      kl.tokens += tokens
      const klBatch = klExamples(examples, logprobs, first, settings.kl, settings.kl_estimate)
      await engine.forwardBackward(klBatch, unclippedLoss(temperature), signal)
    }
    if (index === 0 && replay.length > 0)
      await engine.forwardBackward(replay, { kind: 'cross-entropy' }, signal)
    signal?.throwIfAborted()
    signal = undefined
    onUpdate?.(index === batches.length - 1)
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
    mismatch: mismatchOf(before.examples, before.logprobs),
    kl: settings.kl > 0 ? kl.sum / Math.max(1, kl.tokens) : undefined,
  }
}

/** Adds the gradient of the objective. `ratios` are those by which it was clipped. */
async function passOf(
  engine: Learner['engine'],
  rollouts: readonly (readonly PolicyExample[])[],
  examples: readonly PolicyExample[],
  settings: TrainSettings,
  ownRatio: boolean,
  signal: AbortSignal | undefined,
): Promise<{ logprobs: Float32Array[]; ratios: Float32Array[] }> {
  const { loss, temperature } = settings
  const crossEntropy = { kind: 'cross-entropy', temperature } as const
  if (ownRatio) {
    const { logprobs } = await engine.forwardBackward(weightedByAdvantage(examples), crossEntropy, signal)
    return {
      logprobs,
      ratios: examples.map(({ weights }) => weights.map((weight) => (weight === 0 ? 0 : 1))),
    }
  }
  if (loss === 'clip') {
    const { logprobs } = await engine.forwardBackward(examples, policyLoss(settings), signal)
    return { logprobs, ratios: tokenRatios(examples, logprobs) }
  }
  const { logprobs } = await engine.forward(examples, signal, temperature)
  const ratios = loss === 'gspo' ? sequenceRatios(rollouts, logprobs) : tokenRatios(examples, logprobs)
  await engine.forwardBackward(weightedByRatio(examples, ratios, settings), crossEntropy, signal)
  return { logprobs, ratios }
}

/**
 * The first update starts from the policy that the ratio is relative to, so the ratio is 1 and the gradient of the
 * objective is A·∇log p, whatever the old log-probabilities are. That is advantage-weighted cross-entropy, which needs
 * no pass to compute them. Importance weights do need them, and bounds at exactly 1 would cut off the gradient.
 */
function isFirstUpdateDirect(settings: TrainSettings): boolean {
  const { old_logprobs, importance_cap, clip_low, clip_high } = settings
  return old_logprobs === 'learner' && importance_cap === 0 && clip_low > 0 && clip_high > 0
}

/** The learner's log-probabilities before the first update, for the batches that need them. */
async function oldLogprobs(
  engine: Learner['engine'],
  batches: readonly Examples[],
  { old_logprobs, temperature }: TrainSettings,
  isDirect: boolean,
  signal: AbortSignal | undefined,
): Promise<{ batches: (Examples | undefined)[]; examples: PolicyExample[]; logprobs: Float32Array[] }> {
  const needed = old_logprobs === 'sampler' ? [] : batches.slice(isDirect ? 1 : 0)
  const examples = needed.flat(3)
  if (examples.length === 0) return { batches: [], examples: [], logprobs: [] }
  const { logprobs } = await engine.forward(examples, signal, temperature)
  const replaced = withOldLogprobs(examples, logprobs)
  let next = 0
  const found = needed.map((batch) =>
    batch.map((group) => group.map((rollout) => rollout.map(() => replaced[next++]!))),
  )
  return { batches: isDirect ? [undefined, ...found] : found, examples, logprobs }
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

function withOldLogprobs(
  examples: readonly PolicyExample[],
  logprobs: readonly Float32Array[],
): PolicyExample[] {
  return examples.map((example, index) => ({ ...example, oldLogprobs: logprobs[index]! }))
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
