/** Colors in the style sheet: enough that neighbors differ; names distinguish agents if colors repeat. */
const COUNT = 7

/** Assigns a color to each agent of an example, in the order in which they speak. */
export class Hues {
  readonly #indexes = new Map<string, number>()

  of(agent: string): string {
    const index = this.#indexes.get(agent) ?? this.#indexes.size % COUNT
    this.#indexes.set(agent, index)
    return `hue${index}`
  }
}
