import type { Verdict } from '../../schema/index.ts'
import { type Html, html } from './html.ts'

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

const signs: Record<Verdict['outcome'], string> = {
  correct: '✓ correct',
  wrong: '✗ wrong',
  undecided: '○ undecided',
}

export function verdictBadge(outcome: Verdict['outcome'] | undefined): Html | string {
  return outcome === undefined ? '' : html`<span class="verdict ${outcome}">${signs[outcome]}</span>`
}
