import { join } from 'node:path'
import type { RolloutSection, StudentConfig } from '../../agent/settings.ts'
import { ConfigError } from '../../base/errors/index.ts'
import { isModelFolder } from '../../engine/index.ts'
import type { Run } from '../../store/index.ts'
import type { ContaminationConfig } from '../../tasks/index.ts'
import type { WorldConfig } from '../../world/settings.ts'
import { presets } from './presets.ts'
import type { RlSection } from './settings.ts'

export interface RlConfig extends ContaminationConfig, WorldConfig, StudentConfig {
  rl: RlSection
  rollout: RolloutSection
  /** The score from which a rollout counts as correct where rollouts are compared with each other. */
  check: { min_score: number }
}

type Resolved<T> = { [Name in keyof T]-?: Exclude<T[Name], undefined> }

/** The settings with all defaults filled in. */
export interface RlSettings extends Resolved<RlSection> {
  /** From project.seed. */
  seed: number
  /** From the section rollout. */
  maxTokens: number
  concurrency: number
  temperature: number
  /** Sampled under a grammar mask, so the sampler's log-probabilities are not the model's. */
  isMasked: boolean
}

export function rlSettings(
  config: Pick<RlConfig, 'rl' | 'project' | 'rollout'>,
  /** Whether there are tasks to evaluate on. */
  { evaluates = false }: { evaluates?: boolean } = {},
): RlSettings {
  const { rl, project, rollout } = config
  const preset = presets[rl.algorithm]
  const isOtherPolicy = rollout.constrained || rl.overlap > 0
  const settings: RlSettings = {
    ...rl,
    mini_batches: rl.mini_batches ?? Math.min(preset.mini_batches, rl.groups),
    loss: rl.loss ?? preset.loss,
    clip_low: rl.clip_low ?? preset.clip_low,
    clip_high: rl.clip_high ?? preset.clip_high,
    dual_clip: rl.dual_clip ?? preset.dual_clip,
    importance_cap: rl.importance_cap ?? (isOtherPolicy ? 2 : 0),
    advantage: rl.advantage ?? preset.advantage,
    normalise: rl.normalise ?? preset.normalise,
    dynamic_sampling: rl.dynamic_sampling ?? preset.dynamic_sampling,
    overlong_buffer: rl.overlong_buffer ?? Math.floor(preset.overlong_share * rollout.max_tokens),
    // Scores differ where none or all of them count as correct.
    variance_of: rl.reward === 'relative-judge' ? 'reward' : rl.variance_of,
    keep: rl.keep ?? (evaluates && rl.eval_every > 0 ? 'best' : 'last'),
    seed: project.seed,
    maxTokens: rollout.max_tokens,
    concurrency: rollout.concurrency,
    temperature: rollout.temperature,
    isMasked: rollout.constrained,
  }
  refuseSampling(rollout, settings)
  refuseInvalid(settings)
  return settings
}

function refuse(message: string, fix: string): never {
  throw new ConfigError(message, { fix })
}

/** The trained distribution must be the one that is sampled from. */
function refuseSampling(
  { temperature, top_p, top_k, constrained }: RolloutSection,
  { old_logprobs, overlap }: RlSettings,
): void {
  if (overlap > 0 && old_logprobs === 'sampler')
    refuse(
      `with rl.overlap ${overlap} rollouts come from earlier weights, and rl.old_logprobs is "sampler": ratios would be relative to those`,
      'Set rl.old_logprobs to "learner", or rl.overlap to 0.',
    )
  if (temperature === 0)
    refuse('at temperature 0 all rollouts of a prompt are the same', 'Set rollout.temperature to 1.')
  if (top_p < 1 || top_k > 0)
    refuse(
      `rollout.top_p is ${top_p} and rollout.top_k is ${top_k}: RL would train a different distribution than it samples from`,
      'Set rollout.top_p to 1 and rollout.top_k to 0.',
    )
  if (constrained && temperature !== 1 && old_logprobs === 'sampler')
    refuse(
      `with rollout.constrained the sampler reports the model's log-probabilities at temperature 1, and rollout.temperature is ${temperature}`,
      'Set rl.old_logprobs to "learner", or rollout.temperature to 1.',
    )
}

function refuseInvalid(settings: RlSettings): void {
  const { group_size, advantage, overlong_buffer, maxTokens, mini_batches, groups, dual_clip, loss } =
    settings
  if (group_size === 1 && settings.reward === 'relative-judge')
    refuse(
      'rl.reward "relative-judge" compares the rollouts of a prompt, and rl.group_size is 1',
      'Set rl.group_size to 2 or more, or rl.reward to "verdict".',
    )
  if (group_size === 1 && advantage !== 'batch')
    refuse(
      `rl.advantage "${advantage}" compares the rollouts of a prompt, and rl.group_size is 1`,
      'Set rl.group_size to 2 or more, or rl.advantage to "batch".',
    )
  if (overlong_buffer > maxTokens)
    refuse(
      `rl.overlong_buffer is ${overlong_buffer}, more than the ${maxTokens} tokens of rollout.max_tokens`,
      'Make the buffer smaller: a fifth of rollout.max_tokens is usual.',
    )
  if (mini_batches > groups)
    refuse(
      `rl.mini_batches is ${mini_batches}, but there are only ${groups} groups to split`,
      'Set rl.groups to a multiple of rl.mini_batches.',
    )
  if (dual_clip !== 0 && loss !== 'clip')
    refuse(
      `rl.dual_clip is ${dual_clip}, and rl.loss "${loss}" has no second bound`,
      'Set rl.dual_clip to 0, or rl.loss to "clip".',
    )
  if (dual_clip !== 0 && dual_clip <= 1)
    refuse(
      `rl.dual_clip is ${dual_clip}; at 1 or less wrong answers would have no effect`,
      'Set it above 1 (3 and 10 are usual), or to 0 to turn it off.',
    )
}

/** The model that rl.kl pulls toward. */
export function referenceModel(run: Run, config: RlConfig): string {
  return config.rl.reference === '' ? initialModel(run, config) : config.rl.reference
}

/** The initial model: the configured one, the run's SFT checkpoint, or the student. */
export function initialModel(run: Run, config: RlConfig): string {
  if (config.rl.model !== '') return config.rl.model
  const trained = join(run.files.checkpoints, 'sft')
  return isModelFolder(trained) ? trained : config.student.model
}
