import type { ChatTurn } from './chat-turn.ts'
import type { LeftOut, LoggedItem, LoggedTool } from './contract.ts'
import { handOffTo, withHandOffs } from './hand-offs.ts'
import { itemsOfTurns } from './model-calls.ts'

export interface ChatRun {
  items: LoggedItem[]
  leftOut: LeftOut[]
  tools: LoggedTool[]
  /** The last words, if nothing is still to be done. */
  answer?: string
}

/**
 * What happened in one conversation, in which several agents may take part: turns say who wrote them, or work was handed
 * over before them. `agent` is who wrote a turn where its name is not the agent's, such as a node of a graph.
 */
export function itemsOfChat(turns: readonly (ChatTurn & { agent?: string | undefined })[]): ChatRun {
  const returned = new Set<string>()
  const callers = new Map<string | undefined, Caller>()
  const first = turns.find(({ role }) => role === 'assistant')
  let current = first?.name ?? first?.agent ?? 'assistant'
  const leftOut: LeftOut[] = []
  const said = new Map<string, string[]>()
  const items = turns.flatMap((turn) => {
    const by = turn.role === 'assistant' ? (turn.name ?? turn.agent ?? current) : current
    for (const { id, tool, input } of turn.calls) callers.set(id, { agent: by, tool, input })
    if (turn.role === 'assistant' && turn.text !== '') {
      // Semantic Kernel ends an agent's work with a message of everything that it wrote.
      const before = said.get(by) ?? []
      if (before.length > 1 && turn.calls.length === 0 && turn.text === before.join('')) {
        leftOut.push({ at: 'message', reason: 'what was written, once more', text: turn.text })
        return []
      }
      said.set(by, [...before, turn.text])
    }
    const [result] = turn.role === 'tool' ? turn.results : []
    const caller = result === undefined ? undefined : callers.get(result.id)
    for (const { id, output } of turn.results) {
      const call = callers.get(id)
      current = (call && handOffTo(call.tool, output, call.input)) ?? current
    }
    const named = turn.role === 'tool' ? turn : { ...turn, name: by }
    return itemsOfTurns([named], caller?.agent ?? by, returned)
  })
  const last = turns.findLast(({ text, calls, results }) => text !== '' || calls.length + results.length > 0)
  const ends = last?.role === 'assistant' && last.calls.length === 0 && last.text !== ''
  const run = withHandOffs(joinedPrompts(items))
  return {
    ...run,
    leftOut: [...leftOut, ...run.leftOut],
    ...(ends ? { answer: last.text } : {}),
  }
}

type Caller = Pick<Extract<LoggedItem, { type: 'called' }>, 'agent' | 'tool' | 'input'>

/** A system prompt and the question are one prompt. */
function joinedPrompts(items: readonly LoggedItem[]): LoggedItem[] {
  const joined: LoggedItem[] = []
  for (const item of items) {
    const last = joined.at(-1)
    if (item.type === 'prompted' && last?.type === 'prompted' && last.agent === item.agent)
      joined[joined.length - 1] = { ...last, messages: [...last.messages, ...item.messages] }
    else joined.push(item)
  }
  return joined
}
