import type { Span } from '../../schema/index.ts'
import type { GroupMember, PrefixBranch } from '../api.ts'

export interface Path {
  id: string
  tokens: readonly number[]
  reward: number | undefined
}

/** Paths that share their first tokens, as a tree. Undefined without paths. */
export function prefixTree(paths: readonly Path[], from = 0): PrefixBranch | undefined {
  const [first] = paths
  if (first === undefined) return undefined
  const to = paths.reduce(
    (length, path) => Math.min(length, sharedLength(first.tokens, path.tokens)),
    first.tokens.length,
  )
  const rest = Map.groupBy(
    paths.filter(({ tokens }) => tokens.length > to),
    ({ tokens }) => tokens[to]!,
  )
  const rewards = paths.flatMap(({ reward }) => reward ?? [])
  return {
    from,
    to,
    rollouts: paths.map(({ id }) => id),
    ...(rewards.length === 0
      ? {}
      : { meanReward: rewards.reduce((sum, one) => sum + one, 0) / rewards.length }),
    branches: paths.length === 1 ? [] : [...rest.values()].flatMap((branch) => prefixTree(branch, to) ?? []),
  }
}

/** Where a path leaves the one it has most in common with; undefined if it is equal to that one, or has no others. */
export function divergence(path: Path, others: readonly Path[]): { token: number; from: string } | undefined {
  let closest: { token: number; from: string } | undefined
  for (const { id, tokens } of others) {
    const token = sharedLength(path.tokens, tokens)
    if (closest === undefined || token > closest.token) closest = { token, from: id }
  }
  return closest === undefined || closest.token === path.tokens.length ? undefined : closest
}

function sharedLength(one: readonly number[], other: readonly number[]): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one[length] === other[length]) length++
  return length
}

/** The span and the character at which the texts of two streams differ, and no later than the span of a token. */
export function placeOf(
  spans: readonly Span[],
  token: number,
  other: readonly Span[],
): Pick<NonNullable<GroupMember['diverges']>, 'span' | 'character'> {
  let [span, before] = [0, 0]
  while (span < spans.length - 1 && before + (spans[span]!.tokens?.length ?? 0) <= token)
    before += spans[span++]!.tokens?.length ?? 0
  const joined = (all: readonly Span[]): string => all.map(({ text }) => text).join('')
  const [mine, its] = [joined(spans), joined(other)]
  const most = Math.min(mine.length, its.length)
  let same = 0
  while (same < most && mine[same] === its[same]) same++
  // Different tokens may be the same text for a while, and a token may begin like the other one.
  const start = joined(spans.slice(0, span)).length
  return { span, character: Math.max(0, Math.min(same - start, spans[span]?.text.length ?? 0)) }
}
