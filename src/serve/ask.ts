import type { ClientFunction } from './functions.ts'

/** How one of several chains is chosen; "score" is what the chains' own last check gave them. */
export type PickName = 'majority' | 'score' | 'judge'

/** What a request asks of the model, whichever API it came by. */
export interface Ask {
  question: string
  /** Only these tools of the grammar. */
  tools?: readonly string[]
  /** The functions that the client runs. */
  functions?: readonly ClientFunction[]
  temperature?: number
  topP?: number
  seed?: number
  /** Maximum tokens that the model writes. */
  maxSampled?: number
  maxCalls?: number
  /** Independent chains, all of which are returned. */
  count: number
  /** Chains of which one is returned. */
  bestOf: number
  pick: PickName
  /** The client does not want it recorded. */
  unrecorded?: boolean
}

/** The client's result of a tool call. */
export interface CallResult {
  call: string
  output: string
}
