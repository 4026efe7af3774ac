import { plainName } from '../agent-names.ts'
import type { Json, LoggedItem } from '../contract.ts'
import type { Called } from '../hand-offs.ts'
import type { Agents } from './agents.ts'
import { isBelow, type SpanNode } from './span-tree.ts'

/**
 * Which agent works behind a tool: one whose model calls are in the tool's span, one of the tool's name, or one whose span
 * ends with what the tool returns.
 */
export function agentsBehind(
  nodes: readonly SpanNode[],
  models: readonly SpanNode[],
  items: readonly LoggedItem[],
  agents: Agents,
): (call: Called, output: string | undefined) => string | undefined {
  const writers = new Map(
    items.flatMap((item) => (item.type === 'wrote' ? [[plainName(item.agent), item.agent] as const] : [])),
  )
  const inside = new Map<string, string>()
  for (const node of nodes) {
    if (node.kind !== 'tool' || node.tool?.name === undefined || node.children.length === 0) continue
    const model = models.find((one) => isBelow(one, node))
    const { name, call, input = null } = node.tool
    if (model === undefined) continue
    if (call !== undefined) inside.set(call, agents.of(model))
    else inside.set(keyOf(name, input), agents.of(model))
  }
  const endings = new Map<string, string>()
  for (const node of nodes)
    if (node.kind === 'agent' && node.answer !== undefined && models.some((one) => isBelow(one, node)))
      endings.set(node.answer.trim(), agents.of(node))
  return (call, output) => {
    const found =
      inside.get(call.call ?? '') ??
      inside.get(keyOf(call.tool, call.input)) ??
      writers.get(plainName(call.tool)) ??
      endings.get((output ?? '\0').trim())
    return found === undefined || found === call.agent || !writers.has(plainName(found)) ? undefined : found
  }
}

const keyOf = (tool: string, input: Json): string => `${tool}\0${JSON.stringify(input)}`
