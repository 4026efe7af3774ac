import type { ChainView } from '../../src/studio/api.ts'

/** Rows have only the beginning of a long question; the prompt has all of it. */
export function questionOf({ row, chain }: ChainView): string {
  const start = row.question.replace(/(…|\.\.\.)$/, '')
  const asked = chain.prompt.findLast(({ role }) => role === 'user')?.content
  const at = asked?.indexOf(start) ?? -1
  return asked === undefined || at < 0 || start === row.question ? row.question : asked.slice(at).trim()
}
