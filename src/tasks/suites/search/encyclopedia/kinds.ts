import { people } from './people.ts'
import { places } from './places.ts'
import type { Kind, Relation } from './relation.ts'
import { works } from './works.ts'

export const kinds: readonly Kind[] = [...places, ...people, ...works]

export const kindOf = new Map(kinds.map((kind) => [kind.name, kind]))

export function relationOf(kind: string, name: string): Relation {
  return kindOf.get(kind)!.relations.find((relation) => relation.name === name)!
}

/** List pages of all things with the same value of a relation: their titles and questions. */
export interface Listing {
  kind: string
  relation: string
  title: string
  question: string
}

export const listings: readonly Listing[] = [
  {
    kind: 'book',
    relation: 'author',
    title: 'Novels by {O}',
    question: 'How many novels were written by {O}?',
  },
  {
    kind: 'painting',
    relation: 'painter',
    title: 'Paintings by {O}',
    question: 'How many paintings were painted by {O}?',
  },
  { kind: 'bridge', relation: 'river', title: 'Bridges over {O}', question: 'How many bridges cross {O}?' },
  {
    kind: 'ship',
    relation: 'builder',
    title: 'Ships built by {O}',
    question: 'How many ships were built by {O}?',
  },
]
