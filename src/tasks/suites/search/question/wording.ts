import type { Random } from '../../../../base/random/index.ts'
import { kindOf, listings, relationOf } from '../encyclopedia/kinds.ts'
import type { World } from '../encyclopedia/world.ts'
import type { Form, Pointer } from './form.ts'

/** Longer subjects go to the end of the question for readability. */
const LONG_CHARACTERS = 60

/** A question in English. */
export function wordForm(form: Form, world: World, random: Random): string {
  const say = (pointer: Pointer): string => wordPointer(pointer, world)
  switch (form.ask) {
    case 'value': {
      const { questions } = relationOf(form.kind, form.relation)
      const subject = say(form.of)
      const wording = subject.length > LONG_CHARACTERS ? questions.at(-1)! : random.pick(questions)
      return wording.replace('{S}', subject)
    }
    case 'count': {
      const { question } = listings.find(
        ({ kind, relation }) => kind === form.kind && relation === form.relation,
      )!
      return question.replace('{O}', say(form.is))
    }
    case 'compare': {
      const [first, second] = form.between
      return relationOf(form.kind, form.relation)
        .compare![form.larger ? 1 : 0].replace('{A}', say(first))
        .replace('{B}', say(second))
    }
    case 'years': {
      const [first, second] = form.between.map(({ kind, relation, of }) =>
        relationOf(kind, relation).event!.replace('{S}', say(of)),
      )
      return `How many years lie between ${first} and ${second}?`
    }
  }
}

export function wordPointer(pointer: Pointer, world: World): string {
  switch (pointer.by) {
    case 'name':
      return world.things[pointer.thing]!.title
    case 'relation':
      return relationOf(pointer.kind, pointer.relation).noun!.replace('{S}', wordPointer(pointer.of, world))
    case 'clauses': {
      const clauses = pointer.clauses.map(({ relation, is }) =>
        relationOf(pointer.kind, relation).clause!.replace('{O}', wordPointer(is, world)),
      )
      return `the ${kindOf.get(pointer.kind)!.noun} ${clauses.join(' and ')}`
    }
  }
}
