import type { Step } from '../grammar/index.ts'
import type { Folded, Left } from './carried.ts'

/** One agent's part in a block. */
export interface Piece {
  event: string
  text: string
}

export interface DraftStep extends Step {
  source: string[]
  /** What it was put together from, where that is more than one text. */
  pieces?: Piece[]
}

/** A run as steps of a grammar, with notes about how it came to be. */
export interface Draft {
  steps: DraftStep[]
  left: Left[]
  folded: Folded[]
  problems: string[]
  answered: boolean
}

/** Between the words of different agents in one block. */
const JOINT = '\n'

export function joined(agent: string, pieces: Piece[]): DraftStep {
  const source = [...new Set(pieces.map(({ event }) => event))]
  const text = pieces.map((piece) => piece.text).join(JOINT)
  return { agent, text, source, ...(pieces.length > 1 ? { pieces } : {}) }
}
