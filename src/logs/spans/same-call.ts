import type { ChatTurn } from '../chat-turn.ts'
import { nameAround } from './agents.ts'
import type { Reading } from './reading.ts'
import { around, type SpanNode } from './span-tree.ts'

/**
 * Model calls, each once. A framework and a client library may both report the same call: one span is in the other, both
 * name the same response, or two libraries report the same output at the same time. The span that says more is kept.
 */
export function modelCalls(nodes: readonly SpanNode[]): SpanNode[] {
  const models = nodes.filter(({ kind }) => kind === 'model')
  const dropped = new Set<SpanNode>()
  const merge = (one: SpanNode, other: SpanNode): void => {
    const [hasOne, hasOther] = [one, other].map(({ output = [] }) => output.length > 0)
    const isFirst = hasOne === hasOther ? amount(one) >= amount(other) : hasOne
    const [kept, left] = isFirst ? [one, other] : [other, one]
    dropped.add(left)
    // The other one may know the agent, or be the only one with tools.
    const agent = nameAround(kept) ?? nameAround(left)
    if (agent !== undefined) kept.agent = agent
    kept.offered ??= left.offered ?? []
  }
  for (const node of models) {
    const outer = nearest(node, ({ kind }) => kind === 'model')
    if (outer !== undefined && !dropped.has(outer) && !dropped.has(node)) merge(outer, node)
  }
  const byResponse = new Map<string, SpanNode>()
  const byOutput = new Map<string, SpanNode[]>()
  for (const node of models) {
    if (dropped.has(node)) continue
    const same = node.response === undefined ? undefined : byResponse.get(node.response)
    const twin = same ?? byOutput.get(outputKey(node))?.find((one) => !dropped.has(one) && isTwin(one, node))
    if (twin !== undefined) merge(twin, node)
    const kept = twin !== undefined && dropped.has(node) ? twin : node
    if (node.response !== undefined) byResponse.set(node.response, kept)
    byOutput.set(outputKey(node), [...(byOutput.get(outputKey(node)) ?? []), kept])
  }
  return models.filter((node) => !dropped.has(node))
}

/** Runs of tools, each once: a span in one of the same tool is the same run, unless an agent is between them. */
export function toolNodes(nodes: readonly SpanNode[]): SpanNode[] {
  const seen = new Set<string>()
  return nodes.filter((node) => {
    if (node.kind !== 'tool' || node.tool === undefined) return false
    const outer = nearest(node, ({ kind }) => kind === 'tool' || kind === 'agent')
    if (outer?.kind === 'tool' && isSameRun(outer.tool, node.tool)) {
      outer.tool = { ...node.tool, ...outer.tool }
      return false
    }
    const { call } = node.tool
    if (call === undefined) return true
    const isNew = !seen.has(call)
    seen.add(call)
    return isNew
  })
}

function isSameRun(outer: Reading['tool'], inner: Reading['tool']): boolean {
  const inputs = [outer?.input, inner?.input].filter((input) => input !== undefined)
  const [one, other = one] = inputs.map((input) => JSON.stringify(input))
  return outer?.name === inner?.name && one === other
}

function nearest(node: SpanNode, fits: (node: SpanNode) => boolean): SpanNode | undefined {
  for (const outer of around(node)) {
    if (fits(outer)) return outer
    // A tool or an agent within a model's call has model calls of its own.
    if (outer.kind === 'tool' || outer.kind === 'agent') return undefined
  }
  return undefined
}

const isTwin = (one: SpanNode, other: SpanNode): boolean =>
  (one.span.scope !== other.span.scope || one.span.name !== other.span.name) &&
  one.end >= other.end &&
  (other.output?.length ?? 0) > 0

const outputKey = ({ output = [] }: SpanNode): string =>
  JSON.stringify(
    output.map(({ text, calls }) => [text.trim(), calls.map(({ tool, input }) => [tool, input])]),
  )

const amount = ({ messages = [], output = [] }: SpanNode): number =>
  sum(messages) + 2 * sum(output) + (output.length > 0 ? 1 : 0)

function sum(turns: readonly ChatTurn[]): number {
  return turns.reduce(
    (total, { text, thought = '', calls, results }) =>
      total + text.length + thought.length + JSON.stringify([calls, results]).length,
    0,
  )
}
