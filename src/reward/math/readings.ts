import { NotMath } from './not-math.ts'
import type { Met } from './parse.ts'
import { readValue } from './read-value.ts'
import { tokenize } from './tokenize.ts'
import type { Value } from './value.ts'

export interface Reading {
  value: Value
  /** What `\\log` without a base was taken for. */
  logBase: 'e' | '10'
}

interface ReadingOptions {
  /** Whether `1,234` is one number. */
  grouping: boolean
  /** The gold's unit, where the answer is read after it. */
  unitHint?: string | undefined
}

/** Every way to read the text; none when it is no mathematics. */
export function readingsOf(text: string, options: ReadingOptions): Reading[] {
  const readings: Reading[] = []
  for (const logBase of ['e', '10'] as const) {
    const loose = readOnce(text, false, logBase, options)
    if (loose === undefined) return []
    readings.push({ value: loose.value, logBase })
    const tight = loose.met.slash ? readOnce(text, true, logBase, options) : undefined
    if (tight !== undefined) readings.push({ value: tight.value, logBase })
  }
  return readings
}

function readOnce(
  text: string,
  tightSlash: boolean,
  logBase: 'e' | '10',
  { grouping, unitHint }: ReadingOptions,
): { value: Value; met: Met } | undefined {
  const tokens = tokenize(text, grouping)
  if (tokens === undefined) return undefined
  const met: Met = { sign: false, slash: false, log: false }
  try {
    const reading = { sign: 1, tightSlash, logBase } as const
    const value = readValue(tokens, { reading, met, ...(unitHint === undefined ? {} : { unitHint }) })
    return { value, met }
  } catch (error) {
    // A RangeError is a stack or a number that hostile text made too large.
    if (error instanceof NotMath || error instanceof RangeError) return undefined
    throw error
  }
}
