/** A part of a document. `given` parts are only read; the model learns to predict the rest. */
export interface Part {
  text: string
  given: boolean
}

export type BaseDocument = readonly Part[]

export const given = (text: string): Part => ({ text, given: true })
export const learned = (text: string): Part => ({ text, given: false })

export const textOf = (document: BaseDocument): string => document.map(({ text }) => text).join('')
