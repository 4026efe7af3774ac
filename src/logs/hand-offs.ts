import type { Json, LeftOut, LoggedItem, LoggedTool } from './contract.ts'
import { toolName } from './tool-names.ts'

const HANDS_OFF = /^(?:transfer|hand_?off)_(?:back_)?to_(.+)$/i
const SAYS_SO = /^\s*(?:successfully )?transferr(?:ed|ing) (?:back )?to |^\s*handing off /i

const REASON = 'the framework says that work was handed over'

/** The agent that a call handed work to, judging by its result; undefined for other calls. */
export function handOffTo(tool: string, result: string): string | undefined {
  const to = HANDS_OFF.exec(tool)?.[1]
  return to !== undefined && saysSo(result) ? to : undefined
}

/**
 * Frameworks let models hand work over with tools such as `transfer_to_researcher`. Such a call is a message to the other
 * agent, and its result, which the framework made up, is left out. A tool of that name with a real result stays a tool.
 */
export function withHandOffs(items: readonly LoggedItem[]): {
  items: LoggedItem[]
  leftOut: LeftOut[]
  tools: LoggedTool[]
} {
  const tools = new Set<string>()
  const left: LeftOut[] = []
  const resultOf = pairedResults(items)
  const dropped = new Set<LoggedItem>()
  const kept = items.flatMap((item, index): LoggedItem[] => {
    if (item.type === 'wrote' && SAYS_SO.test(item.text) && handsOff(items[index + 1])) {
      left.push({ at: 'message', reason: REASON, text: item.text })
      return []
    }
    if (dropped.has(item)) return []
    const to = item.type === 'called' ? HANDS_OFF.exec(item.tool)?.[1] : undefined
    if (item.type !== 'called' || to === undefined) return [item]
    const result = resultOf(item)
    if (result !== undefined && !saysSo(result.output)) return [item]
    if (result !== undefined) {
      dropped.add(result)
      left.push({ at: 'result', reason: REASON, text: result.output })
    }
    tools.add(item.tool)
    const { agent, at } = item
    return [
      { type: 'sent', agent, to, text: textsIn(item.input).join('\n'), ...(at === undefined ? {} : { at }) },
    ]
  })
  return { items: kept, leftOut: left, tools: [...tools].map((name) => ({ name })) }
}

const handsOff = (item: LoggedItem | undefined): boolean =>
  item?.type === 'called' && HANDS_OFF.test(item.tool)

/** OpenAI's Agents SDK answers `{"assistant": "researcher"}`. */
const saysSo = (output: string): boolean =>
  output.trim() === '' || SAYS_SO.test(output) || /^\s*\{"assistant":\s*"[^"]*"\}\s*$/.test(output)

type Called = Extract<LoggedItem, { type: 'called' }>
type Returned = Extract<LoggedItem, { type: 'returned' }>

/** By id, or the first result of such a tool that comes later. */
function pairedResults(items: readonly LoggedItem[]): (call: Called) => Returned | undefined {
  return (call) => {
    const later = items
      .slice(items.indexOf(call) + 1)
      .filter((item): item is Returned => item.type === 'returned')
    if (call.call !== undefined) return later.find((result) => result.call === call.call)
    return later.find(({ tool }) => tool !== undefined && toolName(tool) === toolName(call.tool))
  }
}

function textsIn(input: Json): string[] {
  if (typeof input === 'string') return input === '' ? [] : [input]
  if (typeof input !== 'object' || input === null) return input === null ? [] : [String(input)]
  return Object.values(input).flatMap(textsIn)
}
