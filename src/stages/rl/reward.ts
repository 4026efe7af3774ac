import { rewardOf } from '../../reward/index.ts'
import type { Rollout, Verdict } from '../../schema/index.ts'
import type { RlSettings } from './config.ts'

export type RewardSettings = Pick<
  RlSettings,
  | 'reward'
  | 'partial'
  | 'format_bonus'
  | 'format_penalty'
  | 'tool_bonus'
  | 'overlong_buffer'
  | 'overlong_factor'
  | 'overlong_filter'
  | 'void_filter'
  | 'maxTokens'
>

/**
 * Why a rollout says nothing about the model. `environment`: something else failed. `time`: the time limit stopped
 * it, which depends on the machine too. `overlong`: a length limit cut it off, and rl.overlong_filter is set.
 * `void`: it ends with a turn that has neither a tool call nor an answer, and rl.void_filter is set.
 * `undecided`: the checker failed. `unchecked`: its answer has no verdict.
 */
export type LeftOut = 'environment' | 'time' | 'overlong' | 'void' | 'undecided' | 'unchecked'

export type RolloutScore = { reward: number; isCorrect: boolean } | { leftOut: LeftOut }

/** Why a rollout is excluded from training, whatever its verdict. */
export function excluded(
  rollout: Rollout,
  settings: Pick<RewardSettings, 'overlong_filter' | 'void_filter'>,
): LeftOut | undefined {
  const { failure, stop, answer } = rollout
  if (failure !== undefined || stop === 'failed') return 'environment'
  if (stop === 'time') return 'time'
  if (settings.overlong_filter && isTruncated(rollout)) return 'overlong'
  return settings.void_filter && stop === 'end' && answer === undefined ? 'void' : undefined
}

/** The reward of a rollout, or why it is excluded from training. */
export function scoreRollout(rollout: Rollout, settings: RewardSettings): RolloutScore {
  const { verdict, answer, wellFormed } = rollout
  const leftOut = excluded(rollout, settings)
  if (leftOut !== undefined) return { leftOut }
  // No answer means nothing to check, and that is the model's fault.
  if (verdict === undefined && answer !== undefined) return { leftOut: 'unchecked' }
  const reward = rewardOf(gradedBy(verdict, settings), {
    partial: settings.partial || settings.reward === 'relative-judge',
    format: { isWellFormed: wellFormed, bonus: settings.format_bonus, penalty: settings.format_penalty },
    terms: [toolTerm(rollout, settings.tool_bonus), overlongTerm(rollout, settings)],
  })
  if (reward === null) return { leftOut: 'undecided' }
  return { reward, isCorrect: verdict?.outcome === 'correct' }
}

/** The score of a comparison counts as it is: only a correct answer by itself is worth 1. */
function gradedBy(verdict: Verdict | undefined, { reward }: Pick<RewardSettings, 'reward'>): Verdict {
  if (verdict === undefined) return { outcome: 'wrong', checker: 'none', evidence: 'no answer' }
  return reward === 'relative-judge' && verdict.outcome === 'correct'
    ? { ...verdict, outcome: 'wrong' }
    : verdict
}

function toolTerm({ calls }: Rollout, bonus: number): number {
  return calls.some(({ outcome }) => outcome === 'ok') ? bonus : 0
}

function overlongTerm(rollout: Rollout, settings: RewardSettings): number {
  const { maxTokens, overlong_buffer: buffer, overlong_factor: factor } = settings
  return overlongPenalty(lengthOf(rollout), { maxTokens, buffer, factor })
}

/** 0 up to the buffer, then decreasing linearly to minus the factor at the maximum length. */
export function overlongPenalty(
  length: number,
  { maxTokens, buffer, factor }: { maxTokens: number; buffer: number; factor: number },
): number {
  if (buffer === 0) return 0
  const over = Math.min(buffer, Math.max(0, length - (maxTokens - buffer)))
  return over === 0 ? 0 : -(over / buffer) * factor
}

/** Tokens after the prompt at full length, observations included: what rollout.max_tokens counts. */
export function lengthOf({ spans }: Pick<Rollout, 'spans'>): number {
  return spans.reduce((length, { tokens = [] }) => length + tokens.length, 0)
}

/** Cut off by a length limit, so the model did not choose to end there. */
export function isTruncated({ stop }: Pick<Rollout, 'stop'>): boolean {
  return stop === 'tokens' || stop === 'context'
}
