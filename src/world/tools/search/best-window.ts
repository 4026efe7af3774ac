/** Step size of the window: small enough to start near the words, large enough for long texts. */
const STEP = 200

/**
 * The passage of a text that contains most words of a query; the earliest on a tie. It starts at a nearby line or
 * word boundary.
 */
export function bestWindow(text: string, query: string, length: number): string {
  if (text.length <= length) return text
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])]
  const lower = text.toLowerCase()
  let best = { start: 0, found: -1 }
  // Lower-casing may lengthen a text by a few characters, which only shifts a window a little.
  for (let start = 0; start < text.length; start += STEP) {
    const window = lower.slice(start, start + length)
    const found = words.filter((word) => window.includes(word)).length
    if (found > best.found) best = { start, found }
    if (best.found === words.length) break
  }
  const start = best.start === 0 ? 0 : toBoundary(text, Math.min(best.start, text.length - length))
  const end = toBoundary(text, Math.min(text.length, start + length))
  return `${start > 0 ? '…' : ''}${text.slice(start, end).trim()}${end < text.length ? '…' : ''}`
}

/** Just after the last nearby space or line end; never splits a character. */
function toBoundary(text: string, position: number): number {
  if (position >= text.length) return text.length
  for (let at = position; at > position - 40 && at > 0; at--) if (/\s/.test(text[at]!)) return at + 1
  return /[\udc00-\udfff]/.test(text[position]!) ? position + 1 : position
}
