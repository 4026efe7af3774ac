import { NotMath } from './not-math.ts'
import type { Ambiguities } from './parse.ts'
import { readValue } from './read-value.ts'
import { tokenize } from './tokenize.ts'
import type { Value } from './value.ts'

export interface Reading {
  value: Value
  /** The base assumed for `\\log` without one. */
  logBase: 'e' | '10'
}

interface ReadingOptions {
  /** Whether `1,234` is one number. */
  grouping: boolean
  /** The unit of the gold answer, when parsing an answer. */
  unitHint?: string | undefined
}

/** Every interpretation of the text; empty if it is not math. */
export function readingsOf(text: string, options: ReadingOptions): Reading[] {
  const readings: Reading[] = []
  for (const logBase of ['e', '10'] as const) {
    const loose = readOnce(text, false, logBase, options)
    if (loose === undefined) return []
    readings.push({ value: loose.value, logBase })
    const tight = loose.ambiguities.slash ? readOnce(text, true, logBase, options) : undefined
    if (tight !== undefined) readings.push({ value: tight.value, logBase })
  }
  return readings
}

function readOnce(
  text: string,
  tightSlash: boolean,
  logBase: 'e' | '10',
  { grouping, unitHint }: ReadingOptions,
): { value: Value; ambiguities: Ambiguities } | undefined {
  const tokens = tokenize(text, grouping)
  if (tokens === undefined) return undefined
  const ambiguities: Ambiguities = { sign: false, slash: false, log: false }
  try {
    const reading = { sign: 1, tightSlash, logBase } as const
    const value = readValue(tokens, { reading, ambiguities, ...(unitHint === undefined ? {} : { unitHint }) })
    return { value, ambiguities }
  } catch (error) {
    // A RangeError is a stack overflow or a number that is too large, from hostile text.
    if (error instanceof NotMath || error instanceof RangeError) return undefined
    throw error
  }
}
