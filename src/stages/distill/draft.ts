import type { Step } from '../../language/grammar/index.ts'
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

/** Pieces in their order as one block. What an earlier one ended with ("The result is 81.") is not said again ("81"). */
export function joined(agent: string, pieces: Piece[]): DraftStep {
  const source = [...new Set(pieces.map(({ event }) => event))]
  const told = pieces.filter(
    ({ text }, at) => !pieces.slice(0, at).some((earlier) => endsWith(earlier.text, text)),
  )
  const text = told.map((piece) => piece.text).join(JOINT)
  return { agent, text, source, ...(told.length > 1 ? { pieces: told } : {}) }
}

function endsWith(text: string, words: string): boolean {
  const [long, short] = [withoutStop(text), withoutStop(words)]
  return short !== '' && long.endsWith(short) && !/[\p{L}\p{N}.,-]$/u.test(long.slice(0, -short.length))
}

const withoutStop = (text: string): string => text.trim().replace(/[.!]+$/, '')
