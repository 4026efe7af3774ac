/** Words that are compared at once. */
const RUN = 8
/** A quote of this many words in a row is longer than anybody copies by hand. */
const LONGEST = 60

const WORD = /\S+/g

/** Finds long verbatim quotes of texts that were added before, in linear time. White space does not count. */
export class QuoteFinder {
  readonly #runs = new Set<string>()

  add(text: string): void {
    const words = text.match(WORD) ?? []
    for (let at = 0; at + RUN <= words.length; at++) this.#runs.add(words.slice(at, at + RUN).join(' '))
  }

  /** Where the first long quote starts. */
  find(text: string): number | undefined {
    if (this.#runs.size === 0) return undefined
    const words = [...text.matchAll(WORD)]
    let length = 0
    for (let at = 0; at + RUN <= words.length; at++) {
      const run = words.slice(at, at + RUN).map(([word]) => word)
      length = this.#runs.has(run.join(' ')) ? length + 1 : 0
      if (length + RUN - 1 >= LONGEST) return words[at - length + 1]!.index
    }
    return undefined
  }
}
