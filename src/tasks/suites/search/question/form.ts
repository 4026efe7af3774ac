import { relationOf } from '../encyclopedia/kinds.ts'
import type { FactKey } from '../encyclopedia/pages.ts'
import type { Thing, World } from '../encyclopedia/world.ts'

/** How a question refers to a thing. */
export type Pointer =
  | { by: 'name'; thing: number }
  /** The value of another thing's relation: "the author of …". */
  | { by: 'relation'; kind: string; relation: string; of: Pointer }
  /** The only thing that matches all clauses: "the novel written by … and set in …". */
  | { by: 'clauses'; kind: string; clauses: readonly { relation: string; is: Pointer }[] }

/** A question in a form that can be evaluated. */
export type Form =
  | { ask: 'value'; kind: string; relation: string; of: Pointer }
  | { ask: 'count'; kind: string; relation: string; is: Pointer }
  | { ask: 'compare'; kind: string; relation: string; larger: boolean; between: readonly [Pointer, Pointer] }
  | { ask: 'years'; between: readonly [YearOf, YearOf] }

interface YearOf {
  kind: string
  relation: string
  of: Pointer
}

export type Answer = { thing: number } | { number: number }

/**
 * Evaluates a form against the world, independently of how it was generated. All things a pointer could refer to are
 * kept, so that ambiguous questions give several answers. The facts that were used are added to `facts`.
 */
export function answersTo(form: Form, world: World, facts: FactKey[] = []): Answer[] {
  const find = (pointer: Pointer): Thing[] => things(pointer, world, facts)
  const value = (thing: Thing, relation: string): number | undefined => {
    facts.push({ thing: thing.id, relation })
    return thing.facts.get(relation)
  }
  const each = (pointer: Pointer, relation: string): { thing: Thing; value: number }[] =>
    find(pointer).flatMap((thing) => {
      const known = value(thing, relation)
      return known === undefined ? [] : [{ thing, value: known }]
    })
  switch (form.ask) {
    case 'value': {
      const isThing = relationOf(form.kind, form.relation).noun !== undefined
      return each(form.of, form.relation).map((found) =>
        isThing ? { thing: found.value } : { number: found.value },
      )
    }
    case 'count':
      return find(form.is).map((owner) => {
        const members = world.ofKind
          .get(form.kind)!
          .filter((thing) => thing.facts.get(form.relation) === owner.id)
        for (const member of members) facts.push({ thing: member.id, relation: form.relation })
        return { number: members.length }
      })
    case 'compare': {
      const [first, second] = [each(form.between[0], form.relation), each(form.between[1], form.relation)]
      return first.flatMap((one) =>
        second.flatMap((other) => {
          if (one.value === other.value) return [{ thing: one.thing.id }, { thing: other.thing.id }]
          return [{ thing: (one.value > other.value === form.larger ? one : other).thing.id }]
        }),
      )
    }
    case 'years': {
      const [one, other] = form.between
      const [first, second] = [each(one.of, one.relation), each(other.of, other.relation)]
      return first.flatMap((one) => second.map((other) => ({ number: Math.abs(one.value - other.value) })))
    }
  }
}

function things(pointer: Pointer, world: World, facts: FactKey[]): Thing[] {
  switch (pointer.by) {
    case 'name':
      return [world.things[pointer.thing]!]
    case 'relation':
      return things(pointer.of, world, facts).flatMap((thing) => {
        facts.push({ thing: thing.id, relation: pointer.relation })
        const value = thing.facts.get(pointer.relation)
        return value === undefined ? [] : [world.things[value]!]
      })
    case 'clauses': {
      const wanted = pointer.clauses.map(
        ({ relation, is }) => [relation, new Set(things(is, world, facts).map(({ id }) => id))] as const,
      )
      const found = world.ofKind
        .get(pointer.kind)!
        .filter((thing) => wanted.every(([relation, ids]) => ids.has(thing.facts.get(relation) ?? -1)))
      for (const thing of found) for (const [relation] of wanted) facts.push({ thing: thing.id, relation })
      return found
    }
  }
}

/** The things that a question names. */
export function namedIn(form: Form): number[] {
  const inside = (pointer: Pointer): number[] =>
    pointer.by === 'name'
      ? [pointer.thing]
      : pointer.by === 'relation'
        ? inside(pointer.of)
        : pointer.clauses.flatMap(({ is }) => inside(is))
  return pointersOf(form).flatMap(inside)
}

export function pointersOf(form: Form): readonly Pointer[] {
  switch (form.ask) {
    case 'value':
      return [form.of]
    case 'count':
      return [form.is]
    case 'compare':
      return form.between
    case 'years':
      return form.between.map(({ of }) => of)
  }
}
