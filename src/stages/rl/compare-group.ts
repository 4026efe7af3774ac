import { ConfigError } from '../../base/errors/index.ts'
import { type Rollout, streamText, type Task, type Verdict } from '../../schema/index.ts'
import { readEnvironment } from '../../settings/index.ts'
import { type GroupJudge, groupJudgeFromSettings } from '../../world/judge/index.ts'
import type { RlConfig, RlSettings } from './config.ts'
import { excluded } from './reward.ts'

/** Replaces the verdicts of the rollouts of one task by how they compare with each other. */
export type CompareGroup = (
  task: Pick<Task, 'question'>,
  rollouts: readonly Rollout[],
  signal: AbortSignal,
) => Promise<Rollout[]>

/** With rl.reward = "relative-judge", the [judge] model; otherwise nothing is compared. */
export function compareGroupFrom(config: RlConfig, settings: RlSettings): CompareGroup | undefined {
  if (config.rl.reward !== 'relative-judge') return undefined
  const judge = groupJudgeFromSettings(config, readEnvironment())
  if (judge === undefined)
    throw new ConfigError('rl.reward is "relative-judge", but there is no [judge] model', {
      fix: 'Set judge.base_url and judge.model, in coa.toml or with --set, or set rl.reward = "verdict".',
    })
  return compareWith(judge, config.check.min_score, settings)
}

/**
 * Lets the judge compare the rollouts that say something about the model, in one request. If it fails, all of them are
 * undecided and none is trained on.
 */
export function compareWith(judge: GroupJudge, minScore: number, settings: RlSettings): CompareGroup {
  return async ({ question }, rollouts, signal) => {
    const compared = rollouts.filter((rollout) => excluded(rollout, settings) === undefined)
    const judgement = await judge({ question, attempts: compared.map(textOf) }, signal)
    return rollouts.map((rollout) => {
      const at = compared.indexOf(rollout)
      if (at < 0) return rollout
      const score = 'failure' in judgement ? undefined : judgement.scores[at]!
      return {
        ...rollout,
        verdict: verdictOf(score, minScore, 'failure' in judgement ? judgement.failure : ''),
      }
    })
  }
}

function textOf(rollout: Rollout): string {
  const end = rollout.answer === undefined ? '\n\nThere is no final answer.' : ''
  return `${streamText(rollout)}${end}`
}

function verdictOf(
  judged: { score: number; reason: string } | undefined,
  minScore: number,
  failure: string,
): Verdict {
  const checker = 'relative-judge'
  if (judged === undefined) return { outcome: 'undecided', checker, evidence: failure }
  const { score, reason } = judged
  return { outcome: score >= minScore ? 'correct' : 'wrong', checker, evidence: reason, score }
}
