/** Cuts an answer at the first of the client's stop strings, also while it is written. */
export class StopText {
  readonly #stops: readonly string[]
  #held = ''
  /** Whether one of them occurred. */
  stopped = false

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '')
  }

  push(text: string): string {
    if (this.stopped) return ''
    if (this.#stops.length === 0) return text
    const all = this.#held + text
    const found = this.#stops.map((stop) => all.indexOf(stop)).filter((at) => at !== -1)
    this.stopped = found.length > 0
    const end = this.stopped ? Math.min(...found) : this.#certain(all)
    this.#held = this.stopped ? '' : all.slice(end)
    return all.slice(0, end)
  }

  finish(): string {
    const rest = this.#held
    this.#held = ''
    return rest
  }

  /** Up to where no stop string may have begun. */
  #certain(text: string): number {
    const longest = Math.max(...this.#stops.map(({ length }) => length))
    for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++)
      if (this.#stops.some((stop) => stop.startsWith(text.slice(at)))) return at
    return text.length
  }
}
