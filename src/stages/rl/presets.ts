import type { AdvantageKind } from './advantages.ts'
import type { RlSection } from './settings.ts'

/** Defaults of an algorithm. */
interface Preset {
  mini_batches: number
  loss: 'clip' | 'gspo' | 'cispo'
  clip_low: number
  clip_high: number
  advantage: AdvantageKind
  normalise: 'token' | 'sequence'
  dynamic_sampling: boolean
  dual_clip: number
  /** Share of rollout.max_tokens in which the length penalty grows. */
  overlong_share: number
}

export const presets: Readonly<Record<RlSection['algorithm'], Preset>> = {
  dapo: {
    mini_batches: 1,
    loss: 'clip',
    clip_low: 0.2,
    clip_high: 0.28,
    advantage: 'group',
    normalise: 'token',
    dynamic_sampling: true,
    dual_clip: 10,
    overlong_share: 0.2,
  },
  grpo: {
    mini_batches: 1,
    loss: 'clip',
    clip_low: 0.2,
    clip_high: 0.2,
    advantage: 'group',
    normalise: 'sequence',
    dynamic_sampling: false,
    dual_clip: 3,
    overlong_share: 0,
  },
  // The bounds of the papers. Both differ from the others only after the first update of a step, or with rl.overlap.
  gspo: {
    mini_batches: 4,
    loss: 'gspo',
    clip_low: 3e-4,
    clip_high: 4e-4,
    advantage: 'group',
    normalise: 'sequence',
    dynamic_sampling: false,
    dual_clip: 0,
    overlong_share: 0,
  },
  cispo: {
    mini_batches: 4,
    loss: 'cispo',
    clip_low: 1,
    clip_high: 4,
    advantage: 'group',
    normalise: 'token',
    dynamic_sampling: true,
    dual_clip: 0,
    overlong_share: 0.2,
  },
  'reinforce++': {
    mini_batches: 1,
    loss: 'clip',
    clip_low: 0.2,
    clip_high: 0.2,
    advantage: 'batch',
    normalise: 'token',
    dynamic_sampling: false,
    dual_clip: 3,
    overlong_share: 0,
  },
  ppo: {
    mini_batches: 4,
    loss: 'clip',
    clip_low: 0.2,
    clip_high: 0.2,
    advantage: 'leave-one-out',
    normalise: 'token',
    dynamic_sampling: false,
    dual_clip: 3,
    overlong_share: 0,
  },
}
