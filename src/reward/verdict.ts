import type { Verdict } from '../schema/index.ts'

/** A verdict with the share of a full answer it is worth, where the checker knows one: tests passed, words shared. */
export interface Checked extends Verdict {
  score?: number
}

export function verdict(
  outcome: Verdict['outcome'],
  checker: string,
  evidence: string,
  score?: number,
): Checked {
  return { outcome, checker, evidence, ...(score === undefined ? {} : { score }) }
}
