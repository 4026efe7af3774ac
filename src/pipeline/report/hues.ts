/** Colours of the style sheet, enough that neighbours differ; names tell agents apart where they come again. */
const COUNT = 7

/** Gives each agent of an example a colour, in the order in which they speak. */
export class Hues {
  readonly #places = new Map<string, number>()

  of(agent: string): string {
    const place = this.#places.get(agent) ?? this.#places.size % COUNT
    this.#places.set(agent, place)
    return `hue${place}`
  }
}
