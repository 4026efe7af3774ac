import type { Engine } from '../../engine/index.ts'
import { advantagesOf } from './advantages.ts'
import type { RlSettings } from './config.ts'
import { examplesOf, type PolicyExample } from './examples.ts'
import type { Group } from './groups.ts'
import { klExamples, klSum, policyLoss, unbounded, weighted } from './loss.ts'
import { mismatchOf, type TokenFigures, TokenTally } from './token-tally.ts'

export interface Learner {
  engine: Pick<Engine, 'forward' | 'forwardBackward' | 'optimStep'>
  /** The model that training began with, frozen; needed for rl.kl. */
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

export interface TrainFigures extends TokenFigures {
  updates: number
  gradientNorm: number
  /** Before the first update of the step. */
  mismatch: { mean: number; max: number }
  /** Mean distance to the reference; undefined where none is asked for. */
  kl: number | undefined
  /** Time spent waiting for `beforeUpdate`. */
  waitedMs: number
}

export interface TrainOptions {
  learningRate: number
  signal?: AbortSignal
  /** Awaited before weights change for the first time. */
  beforeUpdate?: () => Promise<unknown> | undefined
}

/** The updates of one step. Advantages are those of the whole step; each update has its own share of the groups. */
export async function trainStep(
  { engine, reference }: Learner,
  groups: readonly Group[],
  settings: TrainSettings,
  options: TrainOptions,
): Promise<TrainFigures> {
  const { signal, learningRate, beforeUpdate } = options
  const { temperature } = settings
  const loss = policyLoss(settings)
  const tally = new TokenTally()
  const norms: number[] = []
  const kl = { sum: 0, tokens: 0 }
  let mismatch: TrainFigures['mismatch'] | undefined
  let waitedMs = 0
  let rollouts = rolloutsOf(groups, settings)
  if (settings.old_logprobs === 'learner') {
    const { logprobs } = await engine.forward(rollouts.flat(2), signal, temperature)
    mismatch = mismatchOf(rollouts.flat(2), logprobs)
    rollouts = withOldLogprobs(rollouts, logprobs)
  }
  for (const batch of shares(rollouts, settings.mini_batches)) {
    const examples = weighted(batch.flat(), settings.normalise)
    if (examples.length === 0) continue
    const { logprobs } = await engine.forwardBackward(examples, loss, signal)
    tally.add(examples, logprobs, loss)
    mismatch ??= mismatchOf(examples, logprobs)
    if (reference !== undefined && settings.kl > 0) {
      const { logprobs: first } = await reference.forward(examples, signal, temperature)
      const { sum, tokens } = klSum(examples, logprobs, first)
      kl.sum += sum
      kl.tokens += tokens
      const pull = klExamples(examples, logprobs, first, settings.kl)
      await engine.forwardBackward(pull, unbounded(temperature), signal)
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
    ...tally.figures(),
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

/** The groups in as many parts as asked for, whole and in order, none more than one larger than another. */
function shares<T>(items: readonly T[], parts: number): T[][] {
  return Array.from({ length: parts }, (_, part) =>
    items.slice(Math.floor((part * items.length) / parts), Math.floor(((part + 1) * items.length) / parts)),
  )
}
