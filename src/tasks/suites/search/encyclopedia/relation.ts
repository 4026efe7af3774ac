/**
 * The schema of the encyclopedia: kinds of things, and the relations stated on the pages of each kind. A relation has one
 * value: another thing, a year, or a number. `{S}` stands for the thing, `{O}` for the value.
 */
export interface Relation {
  name: string
  /** The kind of thing it points to, or the type of its value. */
  range: string
  /** How a page says it. */
  sentences: readonly string[]
  /** How a question refers to the value: "the author of {S}". Only if the value is a thing. */
  noun?: string
  /** How a question asks for it. The last wording has `{S}` at the end, where it may be long. */
  questions: readonly string[]
  /** How a clause uses it: "written by {O}". Only if the value is a thing. */
  clause?: string
  /** Years: what happened then. */
  event?: string
  /** Years and numbers: the questions that compare two things, for the smaller and the larger value. */
  compare?: readonly [smaller: string, larger: string]
  /** The section it is in; facts without one are in the opening paragraph. */
  section?: string
}

export interface Kind {
  name: string
  /** The noun for one thing: "novel". */
  noun: string
  opening: readonly string[]
  relations: readonly Relation[]
}

/** The section of a fact; without one it is in the opening paragraph. */
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
