import { ConfigError } from '../../base/errors/index.ts'
import { streamText } from '../../schema/index.ts'
import { readEnvironment } from '../../settings/index.ts'
import { type QualityJudge, qualityJudgeFromSettings } from '../../world/judge/index.ts'
import type { ModelSection, ToolsSection } from '../../world/settings.ts'
import type { Drop, Examined } from './examine.ts'
import type { FilterSection, FilterSettings } from './settings.ts'

/** How many sequences the judge scored, and how many it could not. */
export interface JudgeCounts {
  scored: number
  undecided: number
  /** Why the first of those is undecided. */
  failure?: string
}

/** Asks the [judge] model about sequences that passed the other filters, and counts what it could not decide. */
export class SequenceJudge {
  readonly #judge: QualityJudge
  readonly #settings: Pick<FilterSettings, 'judge_min' | 'judge_undecided'>
  readonly counts: JudgeCounts = { scored: 0, undecided: 0 }

  constructor(judge: QualityJudge, settings: Pick<FilterSettings, 'judge_min' | 'judge_undecided'>) {
    this.#judge = judge
    this.#settings = settings
  }

  /** Why a sequence is dropped, or its score; neither if it is kept although the judge could not decide. */
  async decide(
    { sequence, question }: Pick<Examined, 'sequence' | 'question'>,
    signal: AbortSignal,
  ): Promise<{ drop?: Drop; score?: number }> {
    const { judge_min, judge_undecided } = this.#settings
    const judgement = await this.#judge({ question, text: streamText(sequence) }, signal)
    signal.throwIfAborted()
    if ('failure' in judgement) {
      this.counts.undecided++
      this.counts.failure ??= judgement.failure
      if (judge_undecided === 'keep') return {}
      return { drop: { reason: 'the judge could not decide', detail: judgement.failure } }
    }
    this.counts.scored++
    const { score, reason } = judgement
    return score >= judge_min
      ? { score }
      : { drop: { reason: `judged below ${judge_min}`, detail: `${score}: ${reason}` } }
  }
}

/** The judge, if `filter.judge` asks for one. */
export function sequenceJudge(config: {
  filter: FilterSection
  judge: ModelSection
  tools: ToolsSection
}): SequenceJudge | undefined {
  if (!config.filter.judge) return undefined
  const judge = qualityJudgeFromSettings(config, readEnvironment())
  if (judge === undefined) {
    throw new ConfigError('filter.judge is true, but there is no [judge] model', {
      fix: 'Set judge.base_url and judge.model, in coa.toml or with --set, or set filter.judge = false.',
    })
  }
  return new SequenceJudge(judge, config.filter)
}
