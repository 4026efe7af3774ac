import type { ProjectConfig } from '../config/index.ts'
import { ConfigError } from '../errors/index.ts'
import type { AdvantageKind } from './advantages.ts'

type RlSection = ProjectConfig['rl']

/** What an algorithm decides where the settings leave it out. */
interface Preset {
  mini_batches: number
  clip_low: number
  clip_high: number
  advantage: AdvantageKind
  normalise: 'token' | 'sequence'
  dynamic_sampling: boolean
}

const presets: Readonly<Record<RlSection['algorithm'], Preset>> = {
  dapo: {
    mini_batches: 1,
    clip_low: 0.2,
    clip_high: 0.28,
    advantage: 'group',
    normalise: 'token',
    dynamic_sampling: true,
  },
  grpo: {
    mini_batches: 1,
    clip_low: 0.2,
    clip_high: 0.2,
    advantage: 'group',
    normalise: 'sequence',
    dynamic_sampling: false,
  },
  'reinforce++': {
    mini_batches: 1,
    clip_low: 0.2,
    clip_high: 0.2,
    advantage: 'batch',
    normalise: 'token',
    dynamic_sampling: false,
  },
  ppo: {
    mini_batches: 4,
    clip_low: 0.2,
    clip_high: 0.2,
    advantage: 'leave-one-out',
    normalise: 'token',
    dynamic_sampling: false,
  },
}

/** The settings with nothing left open. */
export interface RlSettings extends Omit<RlSection, keyof Preset>, Preset {
  /** From project.seed. */
  seed: number
  /** From the section rollout. */
  maxTokens: number
  concurrency: number
}

export function rlSettings(config: Pick<ProjectConfig, 'rl' | 'project' | 'rollout'>): RlSettings {
  const { rl, project, rollout } = config
  const preset = presets[rl.algorithm]
  const settings: RlSettings = {
    ...rl,
    mini_batches: rl.mini_batches ?? Math.min(preset.mini_batches, rl.groups),
    clip_low: rl.clip_low ?? preset.clip_low,
    clip_high: rl.clip_high ?? preset.clip_high,
    advantage: rl.advantage ?? preset.advantage,
    normalise: rl.normalise ?? preset.normalise,
    dynamic_sampling: rl.dynamic_sampling ?? preset.dynamic_sampling,
    seed: project.seed,
    maxTokens: rollout.max_tokens,
    concurrency: rollout.concurrency,
  }
  refuseWhatCannotWork(settings, rollout.temperature)
  return settings
}

function refuseWhatCannotWork(settings: RlSettings, temperature: number): void {
  const { group_size, advantage, overlong_buffer, maxTokens, mini_batches, groups, dual_clip } = settings
  const refuse = (message: string, fix: string): never => {
    throw new ConfigError(message, { fix })
  }
  if (temperature === 0)
    refuse('with a temperature of 0 all rollouts of a prompt are the same', 'Set rollout.temperature to 1.')
  if (group_size === 1 && advantage !== 'batch')
    refuse(
      `rl.advantage "${advantage}" compares the rollouts of a prompt, and rl.group_size is 1`,
      'Set rl.group_size to 2 or more, or rl.advantage to "batch".',
    )
  if (overlong_buffer > maxTokens)
    refuse(
      `rl.overlong_buffer is ${overlong_buffer}, more than the ${maxTokens} tokens of rollout.max_tokens`,
      'Make the buffer smaller: an eighth of rollout.max_tokens is usual.',
    )
  if (mini_batches > groups)
    refuse(
      `rl.mini_batches is ${mini_batches}, and there are only ${groups} groups to share out`,
      'Set rl.groups to a multiple of rl.mini_batches.',
    )
  if (dual_clip !== 0 && dual_clip <= 1)
    refuse(
      `rl.dual_clip is ${dual_clip}; at 1 or less nothing would be learned from wrong answers`,
      'Set it above 1 (3 and 10 are usual), or to 0 to turn it off.',
    )
}
