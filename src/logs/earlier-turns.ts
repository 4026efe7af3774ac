import type { ChatTurn } from './chat-turn.ts'
import type { LeftOut } from './contract.ts'
import type { ModelCall } from './model-calls.ts'
import { SaidBefore } from './said-before.ts'

/**
 * Model calls without what assistants said before the run: a thread goes on for several runs, and prompts have examples.
 * Such a turn is followed by what a user says, and no call of the run wrote it. A log in which answers are missing does
 * not tell, so all turns are kept.
 */
export function withoutEarlierTurns<T extends ModelCall>(
  calls: readonly T[],
): { calls: T[]; leftOut: LeftOut[] } {
  const isComplete = calls.every(({ output, error }) => output.length > 0 || error !== undefined)
  if (!isComplete) return { calls: [...calls], leftOut: [] }
  const written = new SaidBefore()
  for (const { output } of calls) written.add(output)
  const earlier = new Map<string, LeftOut>()
  const kept = calls.map((call) => {
    const last = call.messages.findLastIndex(({ role, results }) => role === 'user' && results.length === 0)
    const before = call.messages.filter(
      (turn, index) => index < last && turn.role === 'assistant' && !written.has(turn, call.messages),
    )
    if (before.length === 0) return call
    const ids = new Set(before.flatMap(({ calls: made }) => made.map(({ id }) => id)))
    const isResult = ({ results }: ChatTurn): boolean =>
      results.length > 0 && results.every(({ id }) => ids.has(id))
    const dropped = new Set(call.messages.filter((turn) => before.includes(turn) || isResult(turn)))
    for (const text of [...dropped].flatMap(textsOf))
      earlier.set(text, { at: 'messages', reason: 'said before this run, or an example in the prompt', text })
    return { ...call, messages: call.messages.filter((turn) => !dropped.has(turn)) }
  })
  return { calls: kept, leftOut: [...earlier.values()] }
}

function textsOf({ text, thought = '', calls, results }: ChatTurn): string[] {
  const inputs = calls.map(({ input }) => JSON.stringify(input))
  return [text, thought, ...inputs, ...results.map(({ output }) => output)].filter((one) => one !== '')
}
