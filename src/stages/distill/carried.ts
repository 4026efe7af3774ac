import type { Contribution } from '../../schema/index.ts'

/**
 * A thought, or words that make no block of their own, on the way to the next block that comes from them. Branches share
 * what was said before they parted; the first to speak takes it.
 */
export interface Carried {
  event: string
  as: Contribution | 'thought'
  text: string
  taken: boolean
}

export function carry(event: string, as: Carried['as'], text: string): Carried[] {
  return text.trim() === '' ? [] : [{ event, as, text: text.trim(), taken: false }]
}

/** What a part of an event was left out for. */
export interface Left {
  event: string
  part: 'thought' | 'words' | 'call' | 'all'
  reason: string
}

/** Words that were told as something else than they were said as. */
export interface Folded {
  event: string
  from: Contribution
  into: string
}
