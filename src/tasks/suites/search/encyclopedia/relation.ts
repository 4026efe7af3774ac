/**
 * What the encyclopedia is about: kinds of things, and the relations a page of each kind states. A relation has one
 * value: another thing, a year, or a number. `{S}` stands for the thing, `{O}` for the value.
 */
export interface Relation {
  name: string
  /** Kind of thing it leads to, or what kind of value it has. */
  range: string
  /** How a page says it. */
  sentences: readonly string[]
  /** How a question names the value: "the author of {S}". Only where the value is a thing. */
  noun?: string
  /** How a question asks for it. The last keeps `{S}` to the end, where it may be as long as it likes. */
  questions: readonly string[]
  /** How a question narrows down by it: "written by {O}". Only where the value is a thing. */
  clause?: string
  /** Years: what happened then. */
  event?: string
  /** Years and numbers: how two things are compared by it, the smaller and the larger wanted. */
  compare?: readonly [smaller: string, larger: string]
  /** The section it stands in; facts without one stand in the opening paragraph. */
  section?: string
}

export interface Kind {
  name: string
  /** How one is called: "novel". */
  noun: string
  opening: readonly string[]
  relations: readonly Relation[]
}

/** Where a fact stands; without a section it stands in the opening. */
const under = (section: string | undefined): Pick<Relation, 'section'> =>
  section === undefined ? {} : { section }

export const thing = (
  name: string,
  range: string,
  noun: string,
  clause: string,
  questions: readonly string[],
  sentences: readonly string[],
  section?: string,
): Relation => ({
  name,
  range,
  noun,
  clause,
  questions,
  sentences,
  ...under(section),
})

export const year = (
  name: string,
  event: string,
  compare: readonly [string, string],
  questions: readonly string[],
  sentences: readonly string[],
  section?: string,
): Relation => ({
  name,
  range: 'year',
  event,
  compare,
  questions,
  sentences,
  ...under(section),
})

export const number = (
  name: string,
  compare: readonly [string, string],
  questions: readonly string[],
  sentences: readonly string[],
  section?: string,
): Relation => ({
  name,
  range: 'number',
  compare,
  questions,
  sentences,
  ...under(section),
})
