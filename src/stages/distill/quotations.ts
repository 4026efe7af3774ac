/** Shorter lines are quoted only if their neighbors are too: "12" alone is a number that anybody may write. */
const SHORTEST = 12
const NEIGHBORS = 3

/** What quoted lines are wrapped in: list and quote marks, table edges, emphasis, backticks. */
const WRAPPERS = ' \t\r>-*•|`"\''

/** What tools printed, and where agents quote it line by line or in a fenced block. */
export class Quotations {
  readonly #printed = new Set<string>()

  add(output: string): void {
    for (const line of output.split('\n')) {
      const bare = unwrapped(line)
      if (bare !== '') this.#printed.add(bare)
    }
  }

  /** A text without its quotations; empty if nothing else is in it. The text itself if it has none. */
  without(text: string): string {
    if (this.#printed.size === 0) return text
    const lines = text.split('\n')
    const quoted = this.#quotedIn(lines)
    if (!quoted.includes(true)) return text
    const rest = lines.filter((_, index) => quoted[index] !== true).join('\n')
    return /[\p{L}\p{N}]/u.test(rest) ? rest.replace(/\n{3,}/g, '\n\n').trim() : ''
  }

  #quotedIn(lines: readonly string[]): boolean[] {
    const quoted = lines.map(() => false)
    let run: number[] = []
    const endRun = (): void => {
      for (const index of run)
        quoted[index] = run.length >= NEIGHBORS || unwrapped(lines[index]!).length >= SHORTEST
      run = []
    }
    for (let index = 0; index < lines.length; index++) {
      if (isFence(lines[index]!)) {
        endRun()
        const close = lines.findIndex((line, at) => at > index && isFence(line))
        const end = close === -1 ? lines.length - 1 : close
        const inner = lines.slice(index + 1, close === -1 ? lines.length : close)
        // A program is quoted as a whole or not at all: without one of its lines it is another program.
        const bare = inner.map(unwrapped).filter((line) => line !== '')
        const isQuoted = bare.length > 0 && bare.every((line) => this.#printed.has(line))
        quoted.fill(isQuoted, index, end + 1)
        index = end
      } else {
        const bare = unwrapped(lines[index]!)
        if (bare === '') continue
        if (this.#printed.has(bare)) run.push(index)
        else endRun()
      }
    }
    endRun()
    return quoted
  }
}

const isFence = (line: string): boolean => line.trimStart().startsWith('```')

/** A line without what surrounds it. Walks from both ends, so that no input takes quadratic time. */
function unwrapped(line: string): string {
  let [start, end] = [0, line.length]
  while (start < end && WRAPPERS.includes(line[start]!)) start++
  while (end > start && WRAPPERS.includes(line[end - 1]!)) end--
  return line.slice(start, end)
}
