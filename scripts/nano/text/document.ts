/** A piece of a document. What is given is read; the rest follows from it and is what learning is about. */
export interface Part {
  text: string
  given: boolean
}

export type BaseDocument = readonly Part[]

export const given = (text: string): Part => ({ text, given: true })
export const learned = (text: string): Part => ({ text, given: false })

export const textOf = (document: BaseDocument): string => document.map(({ text }) => text).join('')
