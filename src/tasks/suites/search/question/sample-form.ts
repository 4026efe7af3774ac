import type { Random } from '../../../../base/random/index.ts'
import { kindOf, kinds, listings, relationOf } from '../encyclopedia/kinds.ts'
import type { Thing, World } from '../encyclopedia/world.ts'
import type { Form, Pointer } from './form.ts'

type Ask = Form['ask']
type Sampler = (world: World, random: Random, hops: number) => Form | undefined

const samplers: Record<Ask, Sampler> = {
  value: sampleValue,
  count: sampleCount,
  compare: sampleComparison,
  years: sampleYears,
}

/** The kinds of questions for a number of facts: comparing two things takes at least two facts each. */
export function asksFor(hops: number): readonly Ask[] {
  return hops >= 4 ? ['value', 'value', 'count', 'compare', 'years'] : ['value', 'value', 'count']
}

/**
 * Samples a question that needs `hops` facts. It starts with what is asked and makes each thing harder to find: deeper,
 * by a relation from another thing, or wider, by two clauses that only together identify it. Undefined if a thing has no
 * suitable neighbors; then sample again.
 */
export function sampleForm(world: World, random: Random, hops: number, ask: Ask): Form | undefined {
  return samplers[ask](world, random, hops)
}

function sampleValue(world: World, random: Random, hops: number): Form | undefined {
  const thing = random.pick(world.things)
  const known = kindOf.get(thing.kind)!.relations.filter(({ name }) => thing.facts.has(name))
  if (known.length === 0) return undefined
  const relation = random.pick(known).name
  const used = new Set([thing.id])
  const value = thing.facts.get(relation)!
  if (relationOf(thing.kind, relation).noun !== undefined) used.add(value)
  const of = point(world, random, thing, hops - 1, used)
  return of && { ask: 'value', kind: thing.kind, relation, of }
}

function sampleCount(world: World, random: Random, hops: number): Form | undefined {
  const { kind, relation } = random.pick(listings)
  const member = random.pick(world.ofKind.get(kind)!)
  const owner = world.things[member.facts.get(relation)!]!
  const is = point(world, random, owner, hops - 1, new Set([owner.id]))
  return is && { ask: 'count', kind, relation, is }
}

function sampleComparison(world: World, random: Random, hops: number): Form | undefined {
  const kind = random.pick(kinds)
  const relation = random.pick(kind.relations.filter(({ compare }) => compare !== undefined)).name
  const [one, other] = random.sample(world.ofKind.get(kind.name)!, 2) as [Thing, Thing]
  const between = pointTwice(world, random, one, other, hops - 2)
  return between && { ask: 'compare', kind: kind.name, relation, larger: random.chance(0.5), between }
}

function sampleYears(world: World, random: Random, hops: number): Form | undefined {
  const dated = (): { thing: Thing; relation: string } => {
    const kind = random.pick(
      kinds.filter(({ relations }) => relations.some(({ event }) => event !== undefined)),
    )
    const relation = random.pick(kind.relations.filter(({ event }) => event !== undefined)).name
    return { thing: random.pick(world.ofKind.get(kind.name)!), relation }
  }
  const [one, other] = [dated(), dated()]
  if (one.thing === other.thing) return undefined
  const between = pointTwice(world, random, one.thing, other.thing, hops - 2)
  if (between === undefined) return undefined
  return {
    ask: 'years',
    between: [
      { kind: one.thing.kind, relation: one.relation, of: between[0] },
      { kind: other.thing.kind, relation: other.relation, of: between[1] },
    ],
  }
}

function pointTwice(
  world: World,
  random: Random,
  one: Thing,
  other: Thing,
  facts: number,
): [Pointer, Pointer] | undefined {
  const used = new Set([one.id, other.id])
  const share = random.int(Math.floor(facts / 2), Math.ceil(facts / 2))
  const first = point(world, random, one, share, used)
  const second = first && point(world, random, other, facts - share, used)
  return first && second && [first, second]
}

/** Identifies a thing with the given number of facts. No thing is used twice, so there are no cycles. */
function point(
  world: World,
  random: Random,
  thing: Thing,
  facts: number,
  used: Set<number>,
  plain = false,
): Pointer | undefined {
  if (facts === 0) return { by: 'name', thing: thing.id }
  if (facts >= 2 && !plain && random.chance(0.3)) return pointByClauses(world, random, thing, facts, used)
  const ways = world.leadingTo.get(thing.id)!.filter(({ from }) => !used.has(from.id))
  if (ways.length === 0) return undefined
  const { from, relation } = random.pick(ways)
  used.add(from.id)
  const of = point(world, random, from, facts - 1, used, plain)
  return of && { by: 'relation', kind: from.kind, relation, of }
}

function pointByClauses(
  world: World,
  random: Random,
  thing: Thing,
  facts: number,
  used: Set<number>,
): Pointer | undefined {
  const ways = kindOf
    .get(thing.kind)!
    .relations.filter(({ name, clause }) => clause !== undefined && thing.facts.has(name))
    .filter(({ name }) => !used.has(thing.facts.get(name)!))
  if (ways.length < 2) return undefined
  const [first, second] = random.sample(ways, 2) as [(typeof ways)[0], (typeof ways)[0]]
  const [near, far] = [first, second].map(({ name }) => world.things[thing.facts.get(name)!]!) as [
    Thing,
    Thing,
  ]
  if (near === far) return undefined
  used.add(near.id).add(far.id)
  // The longer clause comes last, so that what follows "and" is unambiguous.
  const inner = point(world, random, far, facts - 2, used, true)
  if (inner === undefined) return undefined
  return {
    by: 'clauses',
    kind: thing.kind,
    clauses: [
      { relation: first.name, is: { by: 'name', thing: near.id } },
      { relation: second.name, is: inner },
    ],
  }
}
