import { CoaError, type CoaErrorOptions } from '../../errors/index.ts'

/** The engine or what it works on: a model that cannot be read, run, trained or written. */
export class EngineError extends CoaError {
  constructor(message: string, options?: CoaErrorOptions) {
    super('engine', message, options)
  }
}

/** A list of findings for one message: the first few in full, the rest as a number. */
export function listed(findings: readonly string[], shown = 8): string {
  const rest = findings.length - shown
  return findings.slice(0, shown).join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}
