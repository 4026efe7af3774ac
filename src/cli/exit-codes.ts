import { type Boundary, CoaError } from '../base/errors/index.ts'

/** Exit codes and their meanings. A test compares them with docs/cli.md. */
export const exitCodes = {
  ok: { code: 0, meaning: 'success' },
  unexpected: { code: 1, meaning: 'a bug in coa; --debug shows where' },
  input: { code: 2, meaning: 'invalid command, settings or input' },
  findings: { code: 3, meaning: 'a check found problems, or there is no answer' },
  store: { code: 4, meaning: 'the run folder is in use, missing, damaged or full' },
  outside: { code: 5, meaning: 'an external failure: model, tool, sandbox or engine' },
  interrupted: { code: 130, meaning: 'interrupted by Ctrl-C; run the same command again to resume' },
} as const

const byBoundary: Record<Boundary, { code: number }> = {
  usage: exitCodes.input,
  config: exitCodes.input,
  grammar: exitCodes.input,
  tokens: exitCodes.input,
  store: exitCodes.store,
  model: exitCodes.outside,
  tool: exitCodes.outside,
  sandbox: exitCodes.outside,
  engine: exitCodes.outside,
}

export function exitCodeOf(error: unknown): number {
  return CoaError.isInstance(error) ? byBoundary[error.boundary].code : exitCodes.unexpected.code
}
