import { readSpan } from './conventions/index.ts'
import type { Reading } from './reading.ts'
import type { Span } from './span.ts'

/** A span of one trace with what it says and where it is in the tree. */
export interface SpanNode extends Reading {
  span: Span
  parent?: SpanNode
  children: SpanNode[]
  /** In milliseconds since the trace began. */
  start: number
  end: number
}

/** The spans of a trace as a tree, in the order in which they began. */
export function treeOf(spans: readonly Span[]): SpanNode[] {
  const unique = new Map(spans.map((span) => [span.id, span]))
  const nodes = new Map(
    [...unique].map(([id, span]): [string, SpanNode] => [
      id,
      { ...readSpan(span), span, children: [], start: 0, end: 0 },
    ]),
  )
  const all = [...nodes.values()]
  for (const node of all) {
    const parent = parentOf(node, nodes)
    if (parent === undefined || isBelow(parent, node)) continue
    node.parent = parent
    parent.children.push(node)
  }
  if (all.every(({ span }) => span.start !== undefined)) useClock(all)
  else useOrder(all)
  return all.sort(inOrder)
}

/** By time; a span before those in it. */
function inOrder(one: SpanNode, other: SpanNode): number {
  if (one.start !== other.start) return one.start - other.start
  if (isBelow(one, other)) return 1
  return isBelow(other, one) ? -1 : one.end - other.end
}

/**
 * The parent by its id, or, where that span is missing, the shortest span of an agent, model or tool around this one. Tools
 * that run at the same time are not in each other.
 */
function parentOf({ span, kind }: SpanNode, nodes: ReadonlyMap<string, SpanNode>): SpanNode | undefined {
  if (span.parent === undefined) return undefined
  const known = nodes.get(span.parent)
  if (known !== undefined) return known
  const length = lengthOf(span)
  if (length === undefined) return undefined
  let nearest: { node: SpanNode; length: bigint } | undefined
  for (const node of nodes.values()) {
    const around = lengthOf(node.span)
    if (around === undefined || around <= length || !isFrame(node, kind)) continue
    if (node.span.start! > span.start! || node.span.end! < span.end!) continue
    if (nearest === undefined || around < nearest.length) nearest = { node, length: around }
  }
  return nearest?.node
}

const lengthOf = ({ start, end }: Span): bigint | undefined =>
  start === undefined || end === undefined ? undefined : end - start

const isFrame = ({ kind }: SpanNode, of: Reading['kind']): boolean =>
  kind === 'agent' || kind === 'model' || (kind === 'tool' && of !== 'tool')

/** Whether a span is the other one or in it. */
export function isBelow(node: SpanNode, other: SpanNode): boolean {
  for (let at: SpanNode | undefined = node; at !== undefined; at = at.parent) if (at === other) return true
  return false
}

/** Differences of nanoseconds fit into a number; the times themselves do not. */
function useClock(nodes: readonly SpanNode[]): void {
  let first = nodes[0]!.span.start!
  for (const { span } of nodes) if (span.start! < first) first = span.start!
  for (const node of nodes) {
    node.start = Number(node.span.start! - first) / 1e6
    node.end =
      node.span.end === undefined ? node.start : Math.max(node.start, Number(node.span.end - first) / 1e6)
  }
}

/** Without times, the order in the file counts. */
function useOrder(nodes: readonly SpanNode[]): void {
  let time = 0
  const visit = (node: SpanNode): void => {
    node.start = time++
    node.children.forEach(visit)
    node.end = time++
  }
  for (const node of nodes) if (node.parent === undefined) visit(node)
}

/** The spans around one, from the inside out. */
export function* around(node: SpanNode): Generator<SpanNode> {
  for (let at = node.parent; at !== undefined; at = at.parent) yield at
}
