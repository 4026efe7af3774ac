import type { Payload } from '../../language/grammar/index.ts'
import type { ToolResult } from '../../world/tools/index.ts'

const NOTHING = 'The program printed nothing.'
/** Longer output is not an answer. */
const MOST_CHARACTERS = 60

/** Whether a call went wrong: the tool failed, or the program that it ran. A program that only tests something may be silent. */
export function isError(payload: Payload, { ok, provenance, text }: ToolResult): boolean {
  const exit = provenance['exit']
  if (!ok || (exit !== undefined && exit !== 0)) return true
  const tests = payload.syntax === 'code' && /^\s*assert\b/m.test(payload.code)
  return text === NOTHING && !tests
}

/** Output that says all there is to report, and may be the answer: one short line. */
export function shortOutput({ text }: Pick<ToolResult, 'text'>): string | undefined {
  const line = text.trim()
  const isShort = line.length <= MOST_CHARACTERS && !line.includes('\n') && line !== NOTHING
  return isShort && line !== '' ? line : undefined
}
