import type { Payload } from '../../language/grammar/index.ts'
import type { ToolResult } from '../../world/tools/index.ts'

/** Whether a call went wrong: the tool failed, or the program that it ran. A program that only tests something may be silent. */
export function isError(payload: Payload, { ok, provenance, text }: ToolResult): boolean {
  const exit = provenance['exit']
  if (!ok || (exit !== undefined && exit !== 0)) return true
  const tests = payload.syntax === 'code' && /^\s*assert\b/m.test(payload.code)
  return text === 'The program printed nothing.' && !tests
}
