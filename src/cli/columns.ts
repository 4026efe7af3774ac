import { wrap } from './live/cell-width.ts'
import { visibleWidth } from './output.ts'
import { sanitize } from './sanitize.ts'

/** Two columns of lines. */
export function sideBySide(left: readonly string[], right: readonly string[], leftWidth: number): string {
  const lines: string[] = []
  for (let row = 0; row < Math.max(left.length, right.length); row++) {
    const cell = left[row] ?? ''
    const padding = ' '.repeat(Math.max(0, leftWidth - visibleWidth(cell)))
    lines.push(`${cell}${padding} │ ${right[row] ?? ''}`.trimEnd())
  }
  return lines.join('\n')
}

/** The lines of a text, wrapped to a width. */
export function wrapText(text: string, width: number): string[] {
  return sanitize(text)
    .replaceAll('\t', '  ')
    .split(/\r?\n/)
    .flatMap((line) => wrap(line, width))
}
