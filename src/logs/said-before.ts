import { type ChatTurn, turnKey } from './chat-turn.ts'

/** What any agent has written and which results it got, to recognize both in the conversations of other agents. */
export class SaidBefore {
  readonly #known = new Set<string>()

  add(turns: readonly ChatTurn[]): void {
    for (const turn of turns) for (const key of keysOf(turn, turns)) this.#known.add(key)
  }

  has(turn: ChatTurn, turns: readonly ChatTurn[]): boolean {
    const keys = keysOf(turn, turns)
    return keys.length > 0 && keys.every((key) => this.#known.has(key))
  }
}

/** Calls are known by their ids, other turns by their text, and results without ids by the turn that called. */
function keysOf(turn: ChatTurn, turns: readonly ChatTurn[]): string[] {
  const { role, text, calls, results } = turn
  if (role === 'tool') {
    if (results.some(({ id }) => id !== undefined)) return []
    const caller = turns.slice(0, turns.indexOf(turn)).findLast((one) => one.role === 'assistant')
    return caller === undefined ? [] : [`${turnKey(caller)} ${turnKey(turn)}`]
  }
  if (role !== 'assistant') return []
  if (calls.length === 0) return text.trim() === '' ? [] : [`says ${text.trim()}`]
  return calls.map(({ id, tool, input }) => `calls ${id ?? `${tool} ${JSON.stringify(input)}`}`)
}
