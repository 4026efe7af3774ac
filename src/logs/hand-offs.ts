import type { Json, LeftOut, LoggedItem, LoggedTool } from './contract.ts'
import { at, textOf } from './json.ts'
import { toolName } from './tool-names.ts'

/** Tools by which one agent hands the conversation to another: `transfer_to_refunds`. */
const HAND_OFF = /^(?:handoff[-_])?(?:transfer_(?:back_)?to_|hand_?off_(?:back_)?to_|delegate_to_)(.+)$/i
/** Tools that are given the other agent's name. */
const NAMES_IT = /^(?:transfer|hand_?off)(?:_to(?:_agent)?)?$/i
const SAYS_SO =
  /^\s*(?:successfully )?transferr(?:ed|ing) (?:back )?to |^\s*handing off |^\s*agent .{1,100}\bis now handling /i

export type Called = Extract<LoggedItem, { type: 'called' }>

const REASON = 'the framework says that work was handed over'

/**
 * The agent that a call hands over to, judging by its tool and input and, if there is one, its result; undefined for a
 * tool like others.
 */
export function handOffTo(tool: string, result: string | undefined, input: Json): string | undefined {
  if (result !== undefined && !saysSo(result)) return undefined
  if (NAMES_IT.test(tool))
    return ['to_agent', 'agent_name', 'agent', 'target', 'to']
      .map((key) => textOf(at(input, key)))
      .find((name) => name !== undefined && name !== '')
  const [, to] = HAND_OFF.exec(tool) ?? []
  return to === undefined ? undefined : (ASSISTANT.exec(result ?? '')?.[1] ?? to)
}

/**
 * Items in which calls of hand-off tools are messages to the other agent, because a single agent has nobody to hand over
 * to; their results, which the framework made up, are left out. A tool of such a name with a real result stays a tool.
 * `agentBehind` tells which agent works behind a tool, if that agent's own steps are in the log; its replies are left out too.
 */
export function withHandOffs(
  items: readonly LoggedItem[],
  agentBehind: (call: Called, output: string | undefined) => string | undefined = () => undefined,
): { items: LoggedItem[]; leftOut: LeftOut[]; tools: LoggedTool[] } {
  const tools = new Set<string>()
  const leftOut: LeftOut[] = []
  const resultOf = pairedResults(items)
  const dropped = new Set<LoggedItem>()
  const kept = items.flatMap((item, index): LoggedItem[] => {
    if (item.type === 'wrote' && SAYS_SO.test(item.text) && handsOff(items[index + 1])) {
      leftOut.push({ at: 'message', reason: REASON, text: item.text })
      return []
    }
    if (dropped.has(item)) return []
    if (item.type !== 'called') return [item]
    const result = resultOf(item)
    const to = agentBehind(item, result?.output) ?? handOffTo(item.tool, result?.output, item.input)
    if (to === undefined) return [item]
    if (result !== undefined) {
      dropped.add(result)
      if (result.output !== '') leftOut.push({ at: 'result', reason: REASON, text: result.output })
    }
    tools.add(item.tool)
    const { agent, at } = item
    const text = textsIn(item.input).join('\n')
    return [{ type: 'sent', agent, to, text, ...(at === undefined ? {} : { at }) }]
  })
  return { items: kept, leftOut, tools: [...tools].map((name) => ({ name })) }
}

const handsOff = (item: LoggedItem | undefined): boolean =>
  item?.type === 'called' && HAND_OFF.test(item.tool)

/** OpenAI's Agents SDK answers `{"assistant": "researcher"}`. */
const ASSISTANT = /^\s*\{"assistant":\s*"([^"]*)"\}\s*$/

const saysSo = (output: string): boolean =>
  /^\s*(?:null|None)?\s*$/.test(output) || SAYS_SO.test(output) || ASSISTANT.test(output)

type Returned = Extract<LoggedItem, { type: 'returned' }>

/** For tools whose names are known to be those of agents. */
export const toolsIn =
  (names: ReadonlySet<string>) =>
  ({ tool }: Called): string | undefined =>
    names.has(tool) ? tool : undefined

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
