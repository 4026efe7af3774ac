import pc from 'picocolors'
import { widthOf } from './cell-width.ts'
import type { Line, Paint, Size } from './live-frame.ts'

const code = {
  hideCursor: '\u001b[?25l',
  showCursor: '\u001b[?25h',
  /** Without wrapping, a line that is wider than we think stays one line. */
  noWrap: '\u001b[?7l',
  wrap: '\u001b[?7h',
  /** Line by line: some terminals keep a copy of what is cleared as a whole screen. */
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
 * Lines at the bottom of a terminal that are drawn over themselves. Others' output goes above them. Nothing is drawn
 * by it unasked.
 */
export class LiveScreen {
  readonly #write: (text: string) => void
  readonly #size: () => Size
  /** Widths of the lines that stand there now; the cursor is at the end of the last. */
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

  /** Puts whole lines where they stay; the frame has to be drawn again after it. */
  above(text: string): void {
    if (!this.#open) return
    this.draw([])
    this.#write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Others have written in between, such as a shell: the next frame begins where the cursor is. */
  forget(): void {
    this.#drawn = []
    this.#write(code.hideCursor)
  }

  showCursor(): void {
    this.#write(code.showCursor)
  }

  /** Leaves the given lines, or nothing. */
  close(last: readonly Line[] = []): void {
    if (!this.#open) return
    this.draw(last)
    this.#open = false
    this.#write(`${last.length > 0 ? '\n' : ''}${code.showCursor}`)
  }

  /** A terminal that has become narrower has broken the lines that stood there. */
  #rows(): number {
    const { columns, rows } = this.#size()
    const broken = this.#drawn.map((width) => Math.max(1, Math.ceil(width / Math.max(1, columns))))
    return Math.min(
      broken.reduce((sum, count) => sum + count, 0),
      Math.max(1, rows),
    )
  }
}

function paintPart({ text, paint }: Line[number]): string {
  return paint === undefined ? text : paints[paint](text)
}
