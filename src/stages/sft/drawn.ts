import { fractionOf } from '../../base/random/index.ts'

/** The ids in an order drawn by the seed, each with its place between 0 and 1: the same whatever other ids there are. */
export function drawn(ids: Iterable<string>, seed: number, what: string): { id: string; at: number }[] {
  return [...new Set(ids)]
    .map((id) => ({ id, at: fractionOf(seed, what, id) }))
    .sort((left, right) => left.at - right.at || (left.id < right.id ? -1 : 1))
}
