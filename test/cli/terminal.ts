/** The part of a terminal that the live view uses; unknown codes are errors. All characters are one cell wide. */
export class Terminal {
  columns: number
  readonly rows: number
  hasCursor = true
  wraps = true
  column = 0
  #row = 0
  /** Includes lines that have scrolled off the top. */
  #lines: string[] = ['']

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  readonly write = (text: string): void => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences contain them
    for (const [part] of text.matchAll(/\u001b\[[?0-9]*[A-Za-z]|[\s\S]/g)) this.#take(part)
  }

  text(): string[] {
    return this.#lines.map((line) => line.trimEnd())
  }

  /** Wraps every line that no longer fits, as most terminals do. */
  narrow(columns: number): void {
    this.columns = columns
    const before = this.#lines
    this.#lines = []
    for (const [at, line] of before.entries()) {
      for (let from = 0; from === 0 || from < line.length; from += columns)
        this.#lines.push(line.slice(from, from + columns))
      if (at === this.#row) this.#row = this.#lines.length - 1
    }
    this.column = Math.min(this.column, columns)
  }

  #take(part: string): void {
    const control: Record<string, () => void> = {
      '\r': () => {
        this.column = 0
      },
      '\n': () => {
        this.column = 0
        this.#down()
      },
      '\u001b[?25l': () => {
        this.hasCursor = false
      },
      '\u001b[?25h': () => {
        this.hasCursor = true
      },
      '\u001b[?7l': () => {
        this.wraps = false
      },
      '\u001b[?7h': () => {
        this.wraps = true
      },
      '\u001b[2K': () => {
        this.#lines[this.#row] = ''
      },
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
    const up = /^\u001b\[(\d+)A$/.exec(part)
    if (up !== null) this.#row = Math.max(this.#top(), this.#row - Number(up[1]))
    else if (control[part] !== undefined) control[part]()
    // Colors have no width. CI has them, a local test run may not.
    else if (part.startsWith('\u001b') && part.endsWith('m')) return
    else if (part.startsWith('\u001b')) throw new Error(`unknown escape sequence: ${JSON.stringify(part)}`)
    else this.#put(part)
  }

  #put(character: string): void {
    if (this.column >= this.columns) {
      if (!this.wraps) this.column = this.columns - 1
      else {
        this.column = 0
        this.#down()
      }
    }
    const line = this.#lines[this.#row]!.padEnd(this.column)
    this.#lines[this.#row] = line.slice(0, this.column) + character + line.slice(this.column + 1)
    this.column++
  }

  #down(): void {
    this.#row++
    if (this.#row === this.#lines.length) this.#lines.push('')
  }

  #top(): number {
    return Math.max(0, this.#lines.length - this.rows)
  }
}
