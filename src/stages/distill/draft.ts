import type { Step } from '../../language/grammar/index.ts'
import type { Contribution } from '../../schema/index.ts'

/** One agent's contribution to a block. */
export interface Piece {
  event: string
  text: string
}

export interface DraftStep extends Step {
  source: string[]
  /** The pieces it was joined from, if there is more than one. */
  pieces?: Piece[]
}

/** A run as steps of a grammar, with notes on how each was derived. */
export interface Draft {
  steps: DraftStep[]
  omitted: Omission[]
  folded: Folded[]
  problems: string[]
  answered: boolean
  /** How often each voice rule changed what agents wrote. */
  voice: ReadonlyMap<string, number>
  /** Some of what each voice rule changed. */
  voiceExamples: ReadonlyMap<string, readonly string[]>
}

/** Separates the texts of different agents in one block. */
const JOINT = '\n'

/**
 * Joins pieces into one block, in order. A piece that repeats the end of an earlier one ("The result is 81.", then
 * "81") is dropped.
 */
export function joinPieces(agent: string, pieces: Piece[]): DraftStep {
  const source = [...new Set(pieces.map(({ event }) => event))]
  const kept = pieces.filter(
    ({ text }, at) => !pieces.slice(0, at).some((earlier) => endsWith(earlier.text, text)),
  )
  const text = kept.map((piece) => piece.text).join(JOINT)
  return { agent, text, source, ...(kept.length > 1 ? { pieces: kept } : {}) }
}

function endsWith(text: string, words: string): boolean {
  const [long, short] = [withoutStop(text), withoutStop(words)]
  return short !== '' && long.endsWith(short) && !/[\p{L}\p{N}.,-]$/u.test(long.slice(0, -short.length))
}

const withoutStop = (text: string): string => text.trim().replace(/[.!]+$/, '')

/**
 * Text that does not form a block of its own, such as a thought: it waits for the next block that depends on it.
 * Branches share what was said before they forked; the first one to write a block uses it.
 */
export interface Pending {
  event: string
  as: Contribution | 'thought'
  text: string
  used: boolean
}

export function pendingOf(event: string, as: Pending['as'], text: string): Pending[] {
  return text.trim() === '' ? [] : [{ event, as, text: text.trim(), used: false }]
}

/** A part of an event that is left out, and why. */
export interface Omission {
  event: string
  part: 'thought' | 'words' | 'call' | 'text' | 'messages' | 'all'
  reason: string
}

/** Text that was written as another agent's than its contribution suggests. */
interface Folded {
  event: string
  from: Contribution
  into: string
}
