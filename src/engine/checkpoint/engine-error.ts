export { EngineError } from '../../base/errors/index.ts'

/** A list for an error message: the first few in full, the rest as a count. */
export function listed(findings: readonly string[], shown = 8): string {
  const rest = findings.length - shown
  return findings.slice(0, shown).join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}
