import type { Grammar } from './grammar.ts'

/**
 * Who may speak next. The state is small on purpose (last speaker, is an observation due, has the prelude spoken):
 * rollouts carry one each and constrained decoding asks it at every block.
 */
export class Automaton {
  readonly #grammar: Grammar
  #last: string | null = null
  #awaitsObservation = false
  #preludeSpoken = false
  #ended = false

  constructor(grammar: Grammar) {
    this.#grammar = grammar
  }

  /** True once the answer was given: nothing may follow. */
  get ended(): boolean {
    return this.#ended
  }

  /** Names of the agents that may speak now. */
  allowed(): string[] {
    const { start, agents, prelude, observation } = this.#grammar
    if (this.#ended) return []
    if (this.#awaitsObservation) return [observation!.name]
    const candidates = this.#last === null ? start : agents.get(this.#last)!.next
    if (prelude === null) return [...candidates]
    const introduced = candidates.filter((name) => prelude.before.has(name))
    if (this.#preludeSpoken) return introduced
    const direct = prelude.required ? candidates.filter((name) => !prelude.before.has(name)) : [...candidates]
    return introduced.length > 0 ? [prelude.agent, ...direct] : direct
  }

  /**
   * Lets an agent speak and says whether it was allowed to. A forbidden speaker is taken as having spoken all the
   * same, so that one slip gives one complaint and not one for every later block.
   */
  step(name: string): boolean {
    const { agents, prelude } = this.#grammar
    const agent = agents.get(name)
    if (agent === undefined) return false
    const allowed = this.allowed().includes(name)
    if (agent.kind === 'observation') {
      this.#awaitsObservation = false
    } else if (name === prelude?.agent) {
      this.#preludeSpoken = true
      this.#awaitsObservation = false
    } else {
      this.#last = name
      this.#preludeSpoken = false
      this.#awaitsObservation = agent.kind === 'tool'
      this.#ended = this.#ended || agent.kind === 'answer'
    }
    return allowed
  }
}
