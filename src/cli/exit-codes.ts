import { type Boundary, CoaError } from '../base/errors/index.ts'

/** What the exit status tells a script. Kept in step with docs/cli.md by a test. */
export const exitCodes = {
  ok: { code: 0, meaning: 'done' },
  unexpected: { code: 1, meaning: 'a fault in coa itself; --debug shows where' },
  input: { code: 2, meaning: 'the command, its settings or its input are not usable' },
  findings: { code: 3, meaning: 'the check was made and found something wrong' },
  store: { code: 4, meaning: 'the run folder cannot be used: in use, missing, damaged or full' },
  outside: { code: 5, meaning: 'something outside of coa failed: a model, a tool, a sandbox, an engine' },
  interrupted: { code: 130, meaning: 'stopped by Ctrl-C; the same command goes on from there' },
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
