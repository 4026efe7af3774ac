import type { Verdict } from '../schema/index.ts'

export function verdict(
  outcome: Verdict['outcome'],
  checker: string,
  evidence: string,
  score?: number,
): Verdict {
  return { outcome, checker, evidence, ...(score === undefined ? {} : { score }) }
}
