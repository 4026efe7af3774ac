import { parseJson } from '../../../schema/index.ts'
import { isObject, longestRow, type RawRow } from './raw-row.ts'

/** One JSON object per line; empty lines are skipped. */
export async function* jsonLines(text: AsyncIterable<string>, limit = longestRow): AsyncGenerator<RawRow> {
  let line = 1
  let pieces: string[] = []
  let length = 0
  const finishLine = (): RawRow | undefined => {
    const whole = length > limit ? undefined : pieces.join('')
    pieces = []
    length = 0
    if (whole === undefined) return { line, problem: 'the line is too long' }
    return whole.trim() === '' ? undefined : parseRow(whole, line)
  }
  for await (const chunk of text) {
    let start = 0
    for (;;) {
      const end = chunk.indexOf('\n', start)
      const piece = chunk.slice(start, end < 0 ? undefined : end)
      length += piece.length
      if (length <= limit) pieces.push(piece)
      if (end < 0) break
      const row = finishLine()
      if (row !== undefined) yield row
      line++
      start = end + 1
    }
  }
  const row = finishLine()
  if (row !== undefined) yield row
}

export function parseRow(text: string, line: number): RawRow {
  try {
    const values = parseJson(text)
    return isObject(values) ? { line, values } : { line, problem: 'it is JSON, but not an object' }
  } catch (error) {
    return { line, problem: `it is not JSON: ${(error as Error).message.slice(0, 120)}` }
  }
}
