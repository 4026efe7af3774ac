import type { Choice, JudgedQuestion } from '../agent/index.ts'
import { ConfigError, UsageError } from '../base/errors/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { ProjectConfig } from '../pipeline/settings.ts'
import { readEnvironment } from '../settings/index.ts'
import type { ChatModel } from '../world/models/index.ts'

/** The agent whose scores `--pick verifier` uses. */
const CHECKER = 'double_check'

export interface Picker {
  /** Throws if the picker cannot work with this grammar. */
  assertFits(grammar: Grammar): void
  pick(from: Required<JudgedQuestion>, signal: AbortSignal): Promise<Choice>
}

/** How to choose among several answers. Throws now if choosing would be impossible later. */
export async function pickerOf(how: Choice['by'], config: ProjectConfig): Promise<Picker> {
  const rolling = await import('../agent/index.ts')
  const always = (): void => {}
  switch (how) {
    case 'majority':
      return {
        assertFits: always,
        pick: async ({ candidates, grammar }) => rolling.pickByMajority(candidates, grammar),
      }
    case 'verifier': {
      const { readScore } = await import('../stages/filter/index.ts')
      return {
        assertFits: mustCheck,
        pick: async ({ candidates, grammar }) =>
          rolling.pickByScore(
            candidates,
            candidates.map((one) => readScore(rolling.lastOf(grammar, one, CHECKER) ?? '')),
          ),
      }
    }
    case 'judge': {
      const judge = await judgeOf(config)
      return { assertFits: always, pick: (from, signal) => rolling.pickByJudge(from, judge, signal) }
    }
  }
}

function mustCheck(grammar: Grammar): void {
  if (grammar.agents.has(CHECKER)) return
  throw new UsageError(`the grammar "${grammar.name}" has no ${CHECKER} agent to score answers`, {
    fix: 'Use --pick majority or --pick judge, or a grammar that has one, such as web.',
  })
}

async function judgeOf(config: ProjectConfig): Promise<ChatModel> {
  const { modelFromSettings } = await import('../world/models/index.ts')
  const judge = modelFromSettings('judge', config.judge, readEnvironment())
  if (judge !== undefined) return judge
  throw new ConfigError('there is no judge model to pick the answer', {
    fix: 'Set judge.base_url and judge.model, or use --pick majority.',
  })
}
