import { ConfigError } from '../../base/errors/index.ts'
import type { Verdict } from '../../schema/index.ts'
import { type ProjectSection, readEnvironment } from '../../settings/index.ts'
import { type GroupJudge, groupJudgeFromSettings } from '../../world/judge/index.ts'
import type { WorldConfig } from '../../world/settings.ts'
import type { Attempt } from './attempts.ts'

/** The checker named in a verdict that compares the attempts at one task. */
export const RELATIVE = 'relative-judge'
/** The checker named in a verdict on one attempt by itself. */
const ALONE = 'judge-alone'

/** The judge that decides without a gold answer. */
export function judgeWithoutGold(
  config: Pick<WorldConfig, 'judge' | 'tools'> & { project: ProjectSection },
): GroupJudge {
  const judge = groupJudgeFromSettings(config, readEnvironment())
  if (judge !== undefined) return judge
  throw new ConfigError('there is no [judge] model to decide without gold answers', {
    fix: 'Set judge.base_url and judge.model, in coa.toml or with --set, or name gold answers with --tasks.',
  })
}

/** Verdicts on the attempts of a group, in order. Without a reply all of them are undecided. */
export async function verdictsWithoutGold(
  group: readonly Attempt[],
  judge: GroupJudge,
  { minScore, relative, signal }: { minScore: number; relative: boolean; signal: AbortSignal },
): Promise<Verdict[]> {
  const checker = relative ? RELATIVE : ALONE
  const question = group[0]?.question ?? ''
  const judgement = await judge({ question, attempts: group.map(({ text }) => text()) }, signal)
  if ('failure' in judgement)
    return group.map(() => ({ outcome: 'undecided', checker, evidence: judgement.failure }))
  return judgement.scores.map(({ score, reason }) => ({
    outcome: score >= minScore ? 'correct' : 'wrong',
    checker,
    evidence:
      relative && group.length > 1
        ? `${score} among ${group.length} attempts: ${reason}`
        : `${score}: ${reason}`,
    score,
  }))
}
