export interface OutputOptions {
  /** Relative or absolute tolerance for numbers. Without it the text must match exactly. */
  floatTolerance?: number
}

/** Compares printed output line by line, ignoring trailing whitespace and trailing empty lines. */
export function sameOutput(expected: string, printed: string, options: OutputOptions = {}): boolean {
  const [wanted, given] = [linesOf(expected), linesOf(printed)]
  if (wanted.length !== given.length) return false
  return wanted.every((line, index) => sameLine(line, given[index]!, options.floatTolerance))
}

function linesOf(text: string): string[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  const trimmed = lines.map((line) => line.trimEnd())
  while (trimmed.at(-1) === '') trimmed.pop()
  return trimmed
}

function sameLine(wanted: string, given: string, tolerance: number | undefined): boolean {
  if (wanted === given) return true
  if (tolerance === undefined) return false
  const [left, right] = [wanted.split(/\s+/), given.split(/\s+/)]
  return left.length === right.length && left.every((word, index) => sameWord(word, right[index]!, tolerance))
}

const numeral = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

function sameWord(wanted: string, given: string, tolerance: number): boolean {
  if (wanted === given) return true
  if (!numeral.test(wanted) || !numeral.test(given)) return false
  return closeNumbers(Number(wanted), Number(given), tolerance)
}

export const closeNumbers = (wanted: number, given: number, tolerance: number): boolean =>
  wanted === given || Math.abs(wanted - given) <= tolerance * Math.max(1, Math.abs(wanted))
