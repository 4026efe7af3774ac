import type { Grammar } from './grammar.ts'

/**
 * Tracks which agents may come next. The state is kept small (last agent, observation pending, prelude done) because
 * every rollout has one and constrained decoding queries it at every block.
 */
export class Automaton {
  readonly #grammar: Grammar
  #last: string | null = null
  #awaitsObservation = false
  #preludeDone = false
  #ended = false

  constructor(grammar: Grammar) {
    this.#grammar = grammar
  }

  /** True after the answer: nothing may follow. */
  get ended(): boolean {
    return this.#ended
  }

  /** Names of the agents that may come next. */
  allowed(): string[] {
    const { start, agents, prelude, observation } = this.#grammar
    if (this.#ended) return []
    if (this.#awaitsObservation) return [observation!.name]
    const candidates = this.#last === null ? start : agents.get(this.#last)!.next
    if (prelude === null) return [...candidates]
    const introduced = candidates.filter((name) => prelude.before.has(name))
    if (this.#preludeDone) return introduced
    const direct = prelude.required ? candidates.filter((name) => !prelude.before.has(name)) : [...candidates]
    return introduced.length > 0 ? [prelude.agent, ...direct] : direct
  }

  /**
   * Advances to an agent and returns whether it was allowed. The state advances either way, so that one violation is
   * reported once and not for every later block.
   */
  step(name: string): boolean {
    const { agents, prelude } = this.#grammar
    const agent = agents.get(name)
    if (agent === undefined) return false
    const allowed = this.allowed().includes(name)
    if (agent.kind === 'observation') {
      this.#awaitsObservation = false
    } else if (name === prelude?.agent) {
      this.#preludeDone = true
      this.#awaitsObservation = false
    } else {
      this.#last = name
      this.#preludeDone = false
      this.#awaitsObservation = agent.kind === 'tool'
      this.#ended = this.#ended || agent.kind === 'answer'
    }
    return allowed
  }
}
