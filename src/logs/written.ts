import type { ChatCall, ChatTurn } from './chat-turn.ts'

/** What all agents of a run have written and received, in whichever way a conversation repeats it. */
export class Written {
  readonly #texts = new Set<string>()
  readonly #calls = new Calls()
  /** Results without an id, with the first agent that received them. */
  readonly #results = new Map<string, string>()
  /** Whether every model call of the log has its output, so that other turns in a prompt were not written in this run. */
  readonly #isComplete: boolean

  constructor(isComplete: boolean) {
    this.#isComplete = isComplete
  }

  /** Turns without what is known. A text is sent back apart from its calls, or calls with their arguments as text. */
  newTurns(turns: readonly ChatTurn[], agent: string): ChatTurn[] {
    const context = new Calls()
    const fresh = turns.flatMap((turn): ChatTurn[] => {
      if (turn.role !== 'assistant') return this.#received(turn, agent, context)
      const calls = turn.calls.filter((call) => !this.#calls.has(call))
      const text = this.#texts.has(turn.text.trim()) ? '' : turn.text
      const isKnown = text === '' && calls.length === 0
      if (isKnown && (turn.text !== '' || turn.calls.length > 0)) return []
      if (!this.#isComplete) return [{ ...turn, text, calls }]
      for (const call of calls) context.add(call)
      return [{ ...turn, text, calls, isContext: true }]
    })
    this.add(fresh, agent)
    return fresh
  }

  add(turns: readonly ChatTurn[], agent: string): void {
    for (const { role, text, isContext, calls, results } of turns) {
      if (isContext) continue
      if (role === 'assistant' && text.trim() !== '') this.#texts.add(text.trim())
      for (const call of calls) this.#calls.add(call)
      for (const { id, output } of results)
        if (id === undefined && !this.#results.has(output)) this.#results.set(output, agent)
    }
  }

  /** Results are of calls in this run, unless their calls are context too. */
  #received(turn: ChatTurn, agent: string, context: Calls): ChatTurn[] {
    if (turn.results.length === 0) return [turn]
    const isOld = ({ id }: { id?: string }): boolean => id !== undefined && context.hasId(id)
    const results = turn.results.filter(
      ({ id, output }) => id !== undefined || (this.#results.get(output) ?? agent) === agent,
    )
    const old = results.filter(isOld)
    const own = results.filter((result) => !isOld(result))
    return [
      ...(old.length === 0 ? [] : [{ ...turn, text: '', results: old, isContext: true as const }]),
      { ...turn, results: own },
    ]
  }
}

/** Calls are known by their ids; by their tools and inputs where a log has the id in one place only. */
class Calls {
  readonly #ids = new Set<string>()
  readonly #all = new Set<string>()
  readonly #withoutId = new Set<string>()

  add({ id, tool, input }: ChatCall): void {
    const key = JSON.stringify([tool, input])
    this.#all.add(key)
    if (id === undefined) this.#withoutId.add(key)
    else this.#ids.add(id)
  }

  has({ id, tool, input }: ChatCall): boolean {
    const key = JSON.stringify([tool, input])
    return id === undefined ? this.#all.has(key) : this.#ids.has(id) || this.#withoutId.has(key)
  }

  hasId(id: string): boolean {
    return this.#ids.has(id)
  }
}
