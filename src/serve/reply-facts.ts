import type { Step } from '../agent/index.ts'
import type { Rollout } from '../schema/index.ts'
import type { Reply } from './service.ts'
import type { ServedTokens } from './usage.ts'

/** What a reply says in the field `coa`, for clients that know it. */
export interface ReplyFacts {
  id?: string
  /** Why the chain ended. */
  stop?: Rollout['stop']
  seed?: number
  grammar?: string
  /** Tools that could not do their work, and the like. */
  failure?: Rollout['failure']
  tokens: ServedTokens
  /** How the answer was chosen among several. */
  pick?: { by: string; reason: string; candidates: (string | null)[] }
  steps: Pick<Step, 'agent' | 'kind' | 'text' | 'outcome' | 'ms'>[]
}

export function factsOf({ turn, tokens, choice }: Reply): ReplyFacts {
  const { rollout, steps } = turn
  return {
    ...(rollout === undefined
      ? {}
      : { id: rollout.id, stop: rollout.stop, seed: rollout.seed, grammar: rollout.grammar }),
    ...(rollout?.failure === undefined ? {} : { failure: rollout.failure }),
    tokens,
    ...(choice === undefined
      ? {}
      : {
          pick: {
            by: choice.by,
            reason: choice.reason,
            candidates: choice.candidates.map((answer) => answer ?? null),
          },
        }),
    steps: steps.map(({ payload: _, ...step }) => step),
  }
}

/** Why a chain has no answer, in words. */
export function noAnswer(stop: Rollout['stop']): string {
  const reasons: Partial<Record<Rollout['stop'], string>> = {
    turns: 'it made as many tool calls as it may',
    tokens: 'it wrote as much as it may',
    time: 'it took as long as it may',
    repetition: 'it repeated the same tool call',
    context: "the model's context is full",
    end: 'the model ended it',
  }
  return `There is no answer: the chain ended because ${reasons[stop] ?? 'the answer is empty'}.`
}
