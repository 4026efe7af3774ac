import { z } from 'zod'
import { kindOf, listings, relationOf } from './encyclopedia/kinds.ts'
import type { Library } from './encyclopedia/library.ts'
import { pathOf, type Sentence, writeNumber } from './encyclopedia/pages.ts'
import type { Thing } from './encyclopedia/world.ts'
import type { Answer, Form, Pointer } from './question/form.ts'
import { wordPointer } from './question/wording.ts'

/** One thing to find out. Steps are ordered so that each one's inputs are known. */
const SearchStep = z.object({
  /** What to find out. */
  want: z.string(),
  /** What to type into a search box. */
  query: z.string(),
  /** The title of the page that says it. */
  title: z.string(),
  path: z.string(),
  /** The sentences on that page that say it. */
  says: z.array(z.string()),
  /** The result of the step. */
  value: z.string(),
})
export type SearchStep = z.infer<typeof SearchStep>

/** The steps to an answer, from page to page. */
export const SearchProgram = z.object({
  steps: z.array(SearchStep),
  conclusion: z.string(),
  answer: z.string(),
})
export type SearchProgram = z.infer<typeof SearchProgram>

/** How a perfect researcher would answer a question. */
export function programOf(form: Form, answer: Answer, library: Library): Omit<SearchProgram, 'answer'> {
  const steps: SearchStep[] = []
  const { world } = library
  const lookUp = (thing: Thing, relation: string, want: string): string => {
    const { range } = relationOf(thing.kind, relation)
    const value = thing.facts.get(relation)!
    const text = kindOf.has(range) ? world.things[value]!.title : writeNumber(value)
    const path = pathOf(thing.title)
    const says = sentencesStating(
      library,
      path,
      ({ fact }) => fact?.thing === thing.id && fact.relation === relation,
    )
    steps.push({ want, query: thing.title, title: thing.title, path, says, value: text })
    return text
  }
  const resolve = (pointer: Pointer): Thing => {
    if (pointer.by === 'name') return world.things[pointer.thing]!
    if (pointer.by === 'relation') {
      const of = resolve(pointer.of)
      const want = relationOf(pointer.kind, pointer.relation).noun!.replace('{S}', of.title)
      lookUp(of, pointer.relation, want)
      return world.things[of.facts.get(pointer.relation)!]!
    }
    const known = pointer.clauses.map(({ relation, is }) => ({ relation, thing: resolve(is) }))
    const { noun } = kindOf.get(pointer.kind)!
    const named = {
      ...pointer,
      clauses: known.map(({ relation, thing }) => ({ relation, is: nameOf(thing) })),
    }
    const thing = world.ofKind
      .get(pointer.kind)!
      .find((each) => known.every((clause) => each.facts.get(clause.relation) === clause.thing.id))!
    const path = pathOf(thing.title)
    steps.push({
      want: wordPointer(named, world),
      query: `${noun} ${known.map((clause) => clause.thing.title).join(' ')}`,
      title: thing.title,
      path,
      says: sentencesStating(library, path, ({ fact }) =>
        known.some(({ relation }) => relation === fact?.relation),
      ),
      value: thing.title,
    })
    return thing
  }
  return { steps, conclusion: conclude() }

  function conclude(): string {
    switch (form.ask) {
      case 'value': {
        const thing = resolve(form.of)
        return lookUp(
          thing,
          form.relation,
          relationOf(form.kind, form.relation).questions[0]!.replace('{S}', thing.title),
        )
      }
      case 'count': {
        const owner = resolve(form.is)
        const listing = listings.find(
          ({ kind, relation }) => kind === form.kind && relation === form.relation,
        )!
        const title = listing.title.replace('{O}', owner.title)
        const value = 'number' in answer ? String(answer.number) : ''
        const says = sentencesStating(library, pathOf(title), ({ fact }) => fact !== undefined)
        const want = listing.question.replace('{O}', owner.title)
        steps.push({ want, query: title, title, path: pathOf(title), says, value })
        return `The list has ${value} ${value === '1' ? 'entry' : 'entries'}.`
      }
      case 'compare': {
        const { compare } = relationOf(form.kind, form.relation)
        const found = form.between.map((pointer) => {
          const thing = resolve(pointer)
          return {
            thing,
            value: lookUp(
              thing,
              form.relation,
              relationOf(form.kind, form.relation).questions[0]!.replace('{S}', thing.title),
            ),
          }
        })
        const question = compare![form.larger ? 1 : 0]
          .replace('{A}', found[0]!.thing.title)
          .replace('{B}', found[1]!.thing.title)
        return `${question} ${found.map(({ thing, value }) => `${thing.title}: ${value}.`).join(' ')}`
      }
      case 'years': {
        const years = form.between.map(({ relation, of }) => {
          const thing = resolve(of)
          return Number(
            lookUp(
              thing,
              relation,
              relationOf(thing.kind, relation).questions[0]!.replace('{S}', thing.title),
            ),
          )
        })
        const [early, late] = years.sort((one, other) => one - other)
        return `${late} - ${early} = ${late! - early!}`
      }
    }
  }
}

function nameOf(thing: Thing): Pointer {
  return { by: 'name', thing: thing.id }
}

function sentencesStating(
  library: Library,
  path: string,
  isWanted: (piece: Exclude<Sentence[number], string>) => boolean,
): string[] {
  const page = library.byPath.get(path)!
  return [...page.lead, ...page.sections.flatMap(({ sentences }) => sentences)]
    .filter((sentence) => sentence.some((piece) => typeof piece !== 'string' && isWanted(piece)))
    .map((sentence) => sentence.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join(''))
}
