import pc from 'picocolors'
import { widthOf } from './cell-width.ts'
import type { Line, Paint, Size } from './live-frame.ts'

const code = {
  hideCursor: '\u001b[?25l',
  showCursor: '\u001b[?25h',
  /** Without wrapping, a line whose width was underestimated stays one line. */
  noWrap: '\u001b[?7l',
  wrap: '\u001b[?7h',
  /** Line by line, because some terminals keep a copy when the whole screen is cleared. */
  clearLine: '\u001b[2K',
  up: (rows: number): string => (rows > 0 ? `\u001b[${rows}A` : ''),
}

const paints: Record<Paint, (text: string) => string> = {
  good: pc.green,
  bad: pc.red,
  now: pc.cyan,
  faint: pc.dim,
  strong: pc.bold,
}

/**
 * Lines at the bottom of a terminal that are redrawn in place, with other output above them. It draws only when asked
 * to.
 */
export class LiveScreen {
  readonly #write: (text: string) => void
  readonly #size: () => Size
  /** Widths of the lines on the screen; the cursor is at the end of the last. */
  #drawn: number[] = []
  #open = true

  constructor(write: (text: string) => void, size: () => Size) {
    this.#write = write
    this.#size = size
    write(code.hideCursor)
  }

  draw(lines: readonly Line[]): void {
    if (!this.#open) return
    const before = this.#rows()
    const text = lines.map((line) => code.clearLine + line.map(paintPart).join('')).join('\n')
    const surplus = Math.max(0, before - Math.max(1, lines.length))
    const rest = `\n${code.clearLine}`.repeat(surplus) + code.up(surplus)
    const start = `\r${code.up(before - 1)}${lines.length === 0 && before > 0 ? code.clearLine : ''}`
    this.#write(`${code.noWrap}${start}${text}${rest}${code.wrap}`)
    this.#drawn = lines.map((line) => line.reduce((sum, part) => sum + widthOf(part.text), 0))
  }

  /** Prints lines above the frame, which must be redrawn afterwards. */
  above(text: string): void {
    if (!this.#open) return
    this.draw([])
    this.#write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Something else, such as a shell, has written to the terminal: the next frame starts at the cursor. */
  forget(): void {
    this.#drawn = []
    this.#write(code.hideCursor)
  }

  showCursor(): void {
    this.#write(code.showCursor)
  }

  /** Leaves the given lines on the terminal. */
  close(last: readonly Line[] = []): void {
    if (!this.#open) return
    this.draw(last)
    this.#open = false
    this.#write(`${last.length > 0 ? '\n' : ''}${code.showCursor}`)
  }

  /** Rows on the screen. A terminal that was made narrower has wrapped the lines. */
  #rows(): number {
    const { columns, rows } = this.#size()
    const wrapped = this.#drawn.map((width) => Math.max(1, Math.ceil(width / Math.max(1, columns))))
    return Math.min(
      wrapped.reduce((sum, count) => sum + count, 0),
      Math.max(1, rows),
    )
  }
}

function paintPart({ text, paint }: Line[number]): string {
  return paint === undefined ? text : paints[paint](text)
}
