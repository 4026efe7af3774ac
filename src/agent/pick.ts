import { type Grammar, parseChain } from '../language/grammar/index.ts'
import { type Rollout, streamText } from '../schema/index.ts'
import { answerKey } from './pick-same.ts'

/** A candidate when choosing one of several answers to the same question. Rollouts also have log-probabilities. */
export type Candidate = Pick<Rollout, 'answer'> & Partial<Pick<Rollout, 'spans'>>

/** Ways to pick one of several answers, by name. */
export type PickBy = 'majority' | 'verifier' | 'judge'

export interface Choice {
  /** Index of the candidate; undefined if none has an answer. */
  chosen: number | undefined
  by: PickBy | 'function'
  /** A human-readable explanation. */
  reason: string
}

/** Mean log-probability of the sampled tokens. */
function meanLogprob({ spans = [] }: Candidate): number {
  const values = spans.flatMap(({ modelLogprobs, logprobs = [] }) => modelLogprobs ?? logprobs)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Number.isFinite(mean) ? mean : Number.NEGATIVE_INFINITY
}

/** The last text of an agent; undefined if it never spoke. */
export function lastOf(grammar: Grammar, { spans = [] }: Candidate, agent: string): string | undefined {
  return parseChain(grammar, streamText({ spans })).blocks.findLast((block) => block.agent === agent)?.text
}

/** Majority vote; ties go to the answer with the highest log-probability. */
export function pickByMajority(candidates: readonly Candidate[], grammar?: Grammar): Choice {
  const groups = groupsOf(candidates, grammar)
  const [chosen] = ranked(
    groups.map(([first]) => first!),
    (number) => groups.find(([first]) => first === number)!.length,
    candidates,
  )
  const votes = groups.find(([first]) => first === chosen)?.length ?? 0
  const reason = chosen === undefined ? NONE : `${votes} of ${candidates.length} agree`
  return { chosen, by: 'majority', reason }
}

/** The candidate with the highest score; ties go to the highest log-probability. */
export function pickByScore(
  candidates: readonly Candidate[],
  scores: readonly (number | undefined)[],
): Choice {
  const [chosen] = ranked(answered(candidates), (number) => scores[number] ?? 0, candidates)
  const score = chosen === undefined ? undefined : scores[chosen]
  const reason =
    chosen === undefined
      ? NONE
      : score === undefined
        ? 'no answer was scored; this one has the highest log-probability'
        : `its own check gives it ${score}`
  return { chosen, by: 'verifier', reason }
}

export const NONE = 'no candidate has an answer'

/** Indexes of candidates by equivalent answers, each group with the highest log-probability first. */
export function groupsOf(candidates: readonly Candidate[], grammar?: Grammar): number[][] {
  const groups = new Map<string, number[]>()
  for (const number of answered(candidates)) {
    const key = answerKey(candidates[number]!.answer!, grammar?.answer.payload.syntax)
    groups.set(key, [...(groups.get(key) ?? []), number])
  }
  return [...groups.values()].map((group) => ranked(group, () => 0, candidates))
}

function answered(candidates: readonly Candidate[]): number[] {
  return candidates.flatMap(({ answer }, number) => ((answer ?? '').trim() === '' ? [] : [number]))
}

/** Best first; ties in the order in which they were sampled. */
function ranked(
  numbers: readonly number[],
  worth: (number: number) => number,
  candidates: readonly Candidate[],
): number[] {
  const sure = new Map(numbers.map((number) => [number, meanLogprob(candidates[number]!)]))
  return numbers.toSorted((left, right) => {
    const difference = worth(right) - worth(left)
    if (difference !== 0) return difference
    // Two infinities differ by NaN.
    return sure.get(right)! - sure.get(left)! || left - right
  })
}
