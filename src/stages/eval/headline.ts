import { percent } from '../../base/text/index.ts'
import type { PairReport } from '../../schema/index.ts'
import { percentWithin, points, probability } from './page-text.ts'

/** What a comparison comes down to, in two sentences: tokens first, and whether accuracy allows to speak of saving. */
export function headline({ reference, solver, saved, difference, isEqualOrBetter, p }: PairReport): string {
  const accuracy =
    difference === null
      ? 'there is no task on which both worked'
      : `accuracy ${points(difference)}, McNemar ${probability(p)}`
  if (saved.once === null || saved.billed === null)
    return `${solver} against ${reference}: ${accuracy}. Their tokens cannot be compared.`
  const { value } = saved.once
  const than = value < 0 ? `more tokens than ${reference}` : `fewer tokens than ${reference}`
  const share = value < 0 ? percent(-value) : percentWithin(saved.once)
  const standing = isEqualOrBetter ? 'at equal or better accuracy' : 'but at lower accuracy'
  return `${solver} needs ${share} ${than} ${standing} (${accuracy}). Counted with every prompt billed again: ${percentWithin(saved.billed)}.`
}
