/** Passes text on without the white space at its beginning and end. */
export class TrimmedText {
  #begun = false
  #blank = ''

  push(text: string): string {
    const all = this.#blank + text
    const from = this.#begun ? all : all.trimStart()
    const kept = from.trimEnd()
    if (kept !== '') this.#begun = true
    this.#blank = this.#begun ? from.slice(kept.length) : ''
    return kept
  }
}
