import { stripVTControlCharacters } from 'node:util'

const MOST_CHARACTERS = 4000

/** The lines of a program's output, as they are completed. A line that is drawn over counts once, as it was last. */
export class OutputLines {
  readonly #onLine: (line: string) => void
  readonly #isRaw: boolean
  #open = ''

  /** With `isRaw`, lines are as they are, whatever their length. */
  constructor(onLine: (line: string) => void, { isRaw = false }: { isRaw?: boolean } = {}) {
    this.#onLine = onLine
    this.#isRaw = isRaw
  }

  push(text: string): void {
    const lines = (this.#open + text).split('\n')
    this.#open = lines.pop()!
    for (const line of lines) this.#line(line)
    if (!this.#isRaw && this.#open.length > 4 * MOST_CHARACTERS)
      this.#open = this.#open.slice(-MOST_CHARACTERS)
  }

  /** What is being drawn on the last line. */
  get last(): string {
    return this.#isRaw ? this.#open : shown(this.#open)
  }

  end(): void {
    if (this.#open !== '') this.#line(this.#open)
    this.#open = ''
  }

  #line(line: string): void {
    const text = this.#isRaw ? line : shown(line)
    if (text.trim() !== '') this.#onLine(text)
  }
}

function shown(line: string): string {
  const last = stripVTControlCharacters(line)
    .split('\r')
    .findLast((part) => part.trim() !== '')
  return (last ?? '').slice(0, MOST_CHARACTERS).toWellFormed()
}
