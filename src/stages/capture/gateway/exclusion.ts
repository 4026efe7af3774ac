import { parsedOr } from '../../../logs/index.ts'

/** Whether a pattern matches a body as it was sent, or a text in it: there, nothing is escaped, and no word is cut in two. */
export function isExcluded(patterns: readonly RegExp[], sent: string, body: unknown): boolean {
  if (patterns.length === 0) return false
  const texts = [sent, ...textsIn(body)]
  return patterns.some((pattern) => texts.some((text) => pattern.test(text)))
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsIn)
  if (typeof value !== 'string') return []
  // Arguments of calls are JSON in a text.
  const inner = /^\s*[[{]/.test(value) ? parsedOr(value) : undefined
  return [value, ...(typeof inner === 'object' ? textsIn(inner) : [])]
}
