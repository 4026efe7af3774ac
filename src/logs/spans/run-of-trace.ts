import { plainName } from '../agent-names.ts'
import type { LoggedItem, LoggedRun, LoggedTool } from '../contract.ts'
import { withHandOffs } from '../hand-offs.ts'
import { asText, type JsonObject } from '../json.ts'
import { itemsOfCalls, type ModelCall } from '../model-calls.ts'
import { withTextActions } from '../text-actions.ts'
import { type ToolRun, withToolRuns } from '../tool-runs.ts'
import { agentsBehind } from './agent-tools.ts'
import { Agents } from './agents.ts'
import { isPlumbing } from './markup.ts'
import { programsIn, runsOfPrograms, withPrograms } from './programs.ts'
import { modelCalls, toolNodes } from './same-call.ts'
import { around, isBelow, type SpanNode } from './span-tree.ts'

/** The run that the spans of a trace tell. */
export function runOfTrace(nodes: readonly SpanNode[], id: string): LoggedRun {
  const models = modelCalls(nodes)
  const programs = programsIn(models)
  const agents = new Agents(models)
  const silent = silentAgents(nodes, models, agents)
  // What a program runs is part of it, and what an agent does that tells everything is told.
  const isTold = ({ parent }: SpanNode): boolean =>
    parent !== undefined && (programs.some(({ step }) => step === parent) || tellsAll(parent, models))
  const tools = toolNodes(nodes).filter((node) => !isTold(node))
  const calls = [...models.map((node) => callOf(node, agents)), ...silent]
  calls.sort((one, other) => one.at - other.at)
  const runs = [...tools.map((node) => toolRunOf(node, agents)), ...runsOfPrograms(programs, agents)]
  const written = withTextActions(withPrograms(itemsOfCalls(calls), programs), runs)
  const told = withHandOffSpans(withToolRuns(written, runs), nodes, agents)
  const { items, leftOut, tools: handedBy } = withHandOffs(told, agentsBehind(nodes, models, told, agents))
  const outer = spansAround(nodes, calls.length > 0 ? models : tools)
  const question = outer.map(questionOf).find(Boolean) ?? questionOf({ messages: calls[0]?.messages ?? [] })
  const answer = outer.map(answerOf).find(Boolean)
  const [first] = nodes
  return {
    where: first!.span.where,
    id,
    ...(question === undefined ? {} : { question }),
    tools: uniqueTools([...handedBy, ...nodes.flatMap(({ offered = [] }) => offered)]),
    items: withAnswer(items, answer),
    leftOut,
    source: nodes.map(sourceOf),
    meta: usageOf(models),
  }
}

function callOf(node: SpanNode, agents: Agents): ModelCall & { at: number } {
  const { messages = [], output = [], start, span } = node
  const error = span.error === undefined ? {} : { error: span.error }
  return { agent: agents.of(node), messages, output, at: start, ...error }
}

/** Agents whose model calls were not traced: what they were asked is known, and what they answered at the end. */
function silentAgents(
  nodes: readonly SpanNode[],
  models: readonly SpanNode[],
  agents: Agents,
): (ModelCall & { at: number })[] {
  return nodes.flatMap((node) => {
    const { kind, messages = [], output = [], start, end } = node
    if (kind !== 'agent' || (messages.length === 0 && output.length === 0)) return []
    if (models.some((model) => isBelow(model, node))) return []
    const agent = agents.of(node)
    if (tellsAll(node, models)) return [{ agent, messages, output, at: start }]
    return [
      { agent, messages, output: [], at: start },
      { agent, messages: [], output, at: end },
    ]
  })
}

/** Whether an agent whose model calls were not traced ends with everything that happened. */
const tellsAll = (node: SpanNode, models: readonly SpanNode[]): boolean =>
  node.kind === 'agent' &&
  (node.output ?? []).some(({ results }) => results.length > 0) &&
  !models.some((model) => isBelow(model, node))

function toolRunOf(node: SpanNode, agents: Agents): ToolRun {
  const { tool = {}, span, start, end } = node
  const { name = span.name, output = span.error, input, call, failed = span.error !== undefined } = tool
  return {
    agent: agents.of(node),
    tool: name,
    start,
    end,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(call === undefined ? {} : { call }),
    ...(failed ? { ok: false } : {}),
  }
}

/** A hand-off is a message without text; one that a model asked for with a call is that call. */
function withHandOffSpans(items: LoggedItem[], nodes: readonly SpanNode[], agents: Agents): LoggedItem[] {
  const isCalled = (to: string): boolean =>
    items.some(({ type, ...item }) => type === 'called' && 'tool' in item && handsOver(asText(item.tool), to))
  for (const node of nodes) {
    const { kind, to, start } = node
    if (kind !== 'hand-off' || to === undefined || isCalled(to)) continue
    const next = items.findIndex(({ at = 0 }) => at > start)
    const sent: LoggedItem = { type: 'sent', agent: agents.of(node), to, text: '', at: start }
    items.splice(next < 0 ? items.length : next, 0, sent)
  }
  return items
}

const handsOver = (tool: string, to: string): boolean =>
  /^(?:transfer|handoff|hand_off|delegate)/i.test(tool) && plainName(tool).endsWith(plainName(to))

/** The spans around the whole run, from the outside in: their input is the question, their output the answer. */
function spansAround(nodes: readonly SpanNode[], parts: readonly SpanNode[]): SpanNode[] {
  if (parts.length === 0) return nodes.filter(({ parent }) => parent === undefined)
  const [first] = parts
  return [...around(first!)].reverse().filter((node) => parts.every((part) => isBelow(part, node)))
}

/** The last thing a user said before the run; what was said earlier belongs to other questions. */
function questionOf({
  question,
  messages = [],
}: Pick<SpanNode, 'question' | 'messages'>): string | undefined {
  return question ?? messages.findLast(({ role, text }) => role === 'user' && text !== '')?.text
}

function answerOf({ answer, output = [] }: SpanNode): string | undefined {
  const last = output.findLast(({ role, text }) => role === 'assistant' && text !== '')
  return answer ?? (last?.calls.length === 0 ? last.text : undefined)
}

/** The answer is what the outermost span ends with, else the last turn without a call. */
function withAnswer(items: readonly LoggedItem[], answer: string | undefined): LoggedItem[] {
  const turns = items.flatMap((item, index) =>
    item.type === 'wrote' && item.text !== '' ? [{ ...item, index }] : [],
  )
  const isCall = (index: number): boolean => items[index + 1]?.type === 'called'
  const isSaid = (text: string): boolean => text.trim() === answer?.trim()
  // Some frameworks end with everything that the agent wrote, joined.
  const end = turns.findLast(({ index }) => !isCall(index))
  const isEnd = end !== undefined && !turns.some(({ text }) => isSaid(text)) && answer?.endsWith(end.text)
  const said = isEnd ? end : turns.findLast(({ text }) => isSaid(text))
  const last = said ?? (answer === undefined ? turns.findLast(({ index }) => !isCall(index)) : undefined)
  const marked = last?.said?.as === 'answer' ? last.said.text : undefined
  const text = marked ?? (isEnd ? end.text : (answer ?? last?.text))
  if (text === undefined) return [...items]
  const after = last === undefined || isCall(last.index) ? items.length : last.index + 1
  const { agent, at } = last ?? turns.at(-1) ?? items.at(-1) ?? { agent: 'assistant', at: 0 }
  const when = after === items.length ? (items.at(-1)?.at ?? at) : at
  const answered: LoggedItem = { type: 'answered', agent, text, ...(when === undefined ? {} : { at: when }) }
  return [...items.slice(0, after), answered, ...items.slice(after)]
}

function uniqueTools(tools: readonly LoggedTool[]): LoggedTool[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()]
}

/** What a span has besides names, ids and numbers of the machinery. */
function sourceOf({ span }: SpanNode): unknown {
  return {
    attributes: textual(span.attributes),
    events: span.events.map(({ attributes, body }) => ({
      attributes: textual(attributes),
      ...(body === undefined ? {} : { body }),
    })),
    ...(span.error === undefined ? {} : { error: span.error }),
  }
}

const textual = (attributes: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(attributes).filter(([key]) => !isPlumbing(key)))

/** Providers count their own tokens, not the student's. */
function usageOf(models: readonly SpanNode[]): {
  models: string[]
  providerTokens?: { input: number; output: number }
} {
  const named = models.map(({ span: { attributes } }) =>
    asText(attributes['gen_ai.request.model'] ?? attributes['llm.model_name'] ?? attributes['ai.model.id']),
  )
  const total = (...keys: string[]): number =>
    models.reduce((sum, { span: { attributes } }) => {
      const found = keys.map((key) => Number(attributes[key])).find((count) => Number.isFinite(count))
      return sum + (found ?? 0)
    }, 0)
  const input = total('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt')
  const output = total(
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
  )
  const used = [...new Set(named.filter((name) => name !== ''))]
  return { models: used, ...(input + output === 0 ? {} : { providerTokens: { input, output } }) }
}
