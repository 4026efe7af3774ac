import {
  type Choice,
  type JudgedQuestion,
  lastOf,
  type PickBy,
  pickByJudge,
  pickByMajority,
  pickByScore,
} from '../agent/index.ts'
import { ConfigError, UsageError } from '../base/errors/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { Rollout } from '../schema/index.ts'
import { readEnvironment } from '../settings/index.ts'
import { type ChatModel, modelFromSettings } from '../world/models/index.ts'
import type { ProjectConfig } from './settings.ts'

/** The agent whose scores the verifier uses. */
const CHECKER = 'double_check'

type Candidates = Required<JudgedQuestion> & { candidates: readonly Rollout[] }

export interface AnswerPicker {
  /** Throws if the picker cannot work with this grammar. */
  assertFits(grammar: Grammar): void
  pick(from: Candidates, signal?: AbortSignal): Promise<Choice>
}

/** How to pick one of several answers: by name, or with a function that returns the index of one, or none. */
export type PickAnswer =
  | PickBy
  | ((rollouts: readonly Rollout[], question: string) => number | undefined | Promise<number | undefined>)

/** How to choose among several answers. Throws now if choosing would be impossible later. */
export async function answerPicker(how: PickAnswer, config: ProjectConfig): Promise<AnswerPicker> {
  const always = (): void => {}
  if (typeof how === 'function')
    return {
      assertFits: always,
      pick: async ({ candidates, question }) => chosenBy(await how(candidates, question), candidates),
    }
  switch (how) {
    case 'majority':
      return {
        assertFits: always,
        pick: async ({ candidates, grammar }) => pickByMajority(candidates, grammar),
      }
    case 'verifier': {
      const { readScore } = await import('../stages/filter/index.ts')
      return {
        assertFits: assertHasChecker,
        pick: async ({ candidates, grammar }) =>
          pickByScore(
            candidates,
            candidates.map((one) => readScore(lastOf(grammar, one, CHECKER) ?? '')),
          ),
      }
    }
    case 'judge': {
      const judge = judgeModel(config, 'Set judge.base_url and judge.model, or use --pick majority.')
      return { assertFits: always, pick: (from, signal) => pickByJudge(from, judge, signal) }
    }
  }
}

function chosenBy(chosen: number | undefined, candidates: readonly Rollout[]): Choice {
  if (chosen === undefined) return { chosen, by: 'function', reason: 'it picked none' }
  if (candidates[chosen] === undefined)
    throw new UsageError(`the function given as pick returned ${chosen}`, {
      fix: `Return an index from 0 to ${candidates.length - 1}, or undefined for none.`,
    })
  return { chosen, by: 'function', reason: 'it picked this one' }
}

function assertHasChecker(grammar: Grammar): void {
  if (grammar.agents.has(CHECKER)) return
  throw new UsageError(`the grammar "${grammar.name}" has no ${CHECKER} agent to score answers`, {
    fix: 'Use --pick majority or --pick judge, or a grammar that has one, such as web.',
  })
}

export function judgeModel(config: Pick<ProjectConfig, 'judge'>, fix: string): ChatModel {
  const judge = modelFromSettings('judge', config.judge, readEnvironment())
  if (judge === undefined) throw new ConfigError('there is no judge model to pick answers', { fix })
  return judge
}
