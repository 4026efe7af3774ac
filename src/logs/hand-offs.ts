import type { LeftOut, LoggedItem } from './contract.ts'
import { asText } from './json.ts'

/** Tools by which one agent hands the conversation to another: `transfer_to_refunds`. */
const HAND_OFF = /^(?:transfer_(?:back_)?to_|hand_?off_to_|delegate_to_)(.+)$/i

/** The agent that a call of this tool hands over to; undefined if it is a tool like others. */
export const handOffTo = (tool: string): string | undefined => HAND_OFF.exec(tool)?.[1]

/**
 * Items in which calls of hand-off tools are messages to the other agent, because a single agent has nobody to hand over
 * to. `agents` are tools behind which an agent works whose own steps are in the log. Their replies are left out.
 */
export function withHandOffs(
  items: readonly LoggedItem[],
  agents: ReadonlySet<string> = new Set(),
): { items: LoggedItem[]; leftOut: LeftOut[] } {
  const handed = new Set<string>()
  const leftOut: LeftOut[] = []
  const targetOf = (tool: string): string | undefined => (agents.has(tool) ? tool : handOffTo(tool))
  const kept = items.flatMap((item): LoggedItem[] => {
    if (item.type === 'called') {
      const to = targetOf(item.tool)
      if (to === undefined) return [item]
      if (item.call !== undefined) handed.add(item.call)
      const text = asText(item.input)
      const { agent, at } = item
      return [
        { type: 'sent', agent, to, text: text === '{}' ? '' : text, ...(at === undefined ? {} : { at }) },
      ]
    }
    if (item.type !== 'returned') return [item]
    const isReply =
      (item.call !== undefined && handed.has(item.call)) || targetOf(item.tool ?? '') !== undefined
    if (!isReply) return [item]
    leftOut.push({ at: 'result', reason: 'the reply to a hand-off', text: item.output })
    return []
  })
  return { items: kept, leftOut }
}
