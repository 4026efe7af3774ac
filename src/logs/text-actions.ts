import type { LoggedItem } from './contract.ts'
import { PieceItems } from './text/pieces.ts'
import { isReact, readReact } from './text/react-text.ts'
import { toolName } from './tool-names.ts'

/**
 * Items in which the actions that agents write as text ("Action: search") are calls, if the log shows that such a tool was
 * run; and answers that they mark as such are told apart from the thoughts before them.
 */
export function withTextActions(
  items: readonly LoggedItem[],
  ran: readonly { tool: string }[],
): LoggedItem[] {
  const tools = new Set(ran.map(({ tool }) => toolName(tool)))
  return items.flatMap((item, index): LoggedItem[] => {
    if (item.type !== 'wrote' || item.said !== undefined || items[index + 1]?.type === 'called') return [item]
    if (!isLabeled(item.text)) return [item]
    const { pieces } = readReact(item.text, { inventsLast: true })
    const isRun = pieces.some((piece) => piece.kind === 'call' && tools.has(toolName(piece.tool)))
    if (!isRun && !pieces.some(({ kind }) => kind === 'answer')) return [item]
    const turn = new PieceItems()
    turn.add(
      item.agent,
      item.text,
      pieces.filter(({ kind }) => kind !== 'result'),
    )
    const when = item.at === undefined ? {} : { at: item.at }
    const { text: _text, thought: _thought, ...rest } = item
    return turn.items.flatMap((one): LoggedItem[] => {
      if (one.type === 'answered') return []
      if (one.type === 'wrote') return [{ ...rest, ...one }]
      if (one.type !== 'called') return [{ ...one, ...when }]
      const { call: _call, ...called } = one
      return [{ ...called, ...when }]
    })
  })
}

/** An answer at the end of a conversation has no action beside it. */
const isLabeled = (text: string): boolean =>
  isReact(text) || /^\s{0,20}\**Thought:[\s\S]*^\**(?:Final )?Answer:/m.test(text)
