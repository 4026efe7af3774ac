import { keyOf, type Library } from '../encyclopedia/library.ts'
import type { FactKey } from '../encyclopedia/pages.ts'
import { type Answer, answersTo, type Form, namedIn, type Pointer, pointersOf } from './form.ts'

export interface Proof {
  answer: Answer
  /** The required facts, without duplicates. */
  facts: FactKey[]
}

/** Proves that a question has exactly one answer and that no single page gives it away; undefined otherwise. */
export function prove(form: Form, library: Library): Proof | undefined {
  const { world } = library
  const all: FactKey[] = []
  const answers = answersTo(form, world, all)
  if (answers.length !== 1 || !pointersOf(form).every((pointer) => isDefinite(pointer, library)))
    return undefined
  const answer = answers[0]!
  const facts = [...new Map(all.map((fact) => [keyOf(fact), fact])).values()]
  if (isOnOnePage(form, facts, answer, library)) return undefined
  return { answer, facts }
}

/** Whether every reference, such as "the novel set in …", matches exactly one thing at every level. */
function isDefinite(pointer: Pointer, library: Library): boolean {
  if (pointer.by === 'name') return true
  if (pointer.by === 'relation') return isDefinite(pointer.of, library)
  const asValue = (clauses: typeof pointer.clauses): number =>
    answersTo(
      { ask: 'value', kind: pointer.kind, relation: clauses[0]!.relation, of: { ...pointer, clauses } },
      library.world,
    ).length
  const inner = pointer.clauses.every(({ is }) => isDefinite(is, library))
  // Each clause is needed: without it, several things would match.
  const needed = pointer.clauses.every(
    (_, index) => asValue(pointer.clauses.filter((_, at) => at !== index)) > 1,
  )
  return inner && needed && asValue(pointer.clauses) === 1
}

/** Whether one page states all required facts, or has the answer along with everything the question names. */
function isOnOnePage(form: Form, facts: readonly FactKey[], answer: Answer, library: Library): boolean {
  if (common(facts.map((fact) => library.stating(fact))).length > 0) return true
  const together = common(namedIn(form).map((thing) => library.naming(thing)))
  if ('thing' in answer) return together.some((page) => library.naming(answer.thing).has(page))
  return together.some((page) =>
    library
      .factsOn(page)
      .some(({ thing, relation }) => library.world.things[thing]!.facts.get(relation) === answer.number),
  )
}

function common(sets: readonly ReadonlySet<number>[]): number[] {
  const [smallest, ...others] = [...sets].sort((one, other) => one.size - other.size)
  return [...(smallest ?? [])].filter((page) => others.every((set) => set.has(page)))
}
