import { stripVTControlCharacters } from 'node:util'
import pc from 'picocolors'
import { widthOf } from './live/cell-width.ts'

/** Prints a command's result: as JSON with --json, otherwise as text. */
export function emit(options: { json?: boolean }, data: unknown, human: () => string): void {
  process.stdout.write(`${options.json === true ? jsonText(data, 2) : human().trimEnd()}\n`)
}

/** JSON for output: control characters that JSON allows unescaped but a terminal may obey (DEL to U+009F) are escaped. */
export function jsonText(data: unknown, indent?: number): string {
  return JSON.stringify(data, null, indent).replaceAll(
    /[\u007f-\u009f]/g,
    (control) => `\\u00${control.charCodeAt(0).toString(16)}`,
  )
}

/** Columns padded to their widest cell, except the last. Cells may contain color codes. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, visibleWidth(cell))
    })
  const pad = (cell: string, column: number, row: readonly string[]): string =>
    column === row.length - 1 ? cell : cell + ' '.repeat(widths[column]! - visibleWidth(cell))
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, column, row))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Width in terminal cells, ignoring color codes. */
export function visibleWidth(text: string): number {
  return widthOf(stripVTControlCharacters(text))
}

export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = count
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

export const mark = { good: pc.green('✓'), bad: pc.red('✗'), open: pc.yellow('○') }
