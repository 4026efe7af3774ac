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
    const parent = parentOf(node.span, nodes)
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

/** The parent by its id, or, where that span is missing, the shortest span of a model, agent or tool around this one. */
function parentOf(span: Span, nodes: ReadonlyMap<string, SpanNode>): SpanNode | undefined {
  if (span.parent === undefined) return undefined
  const known = nodes.get(span.parent)
  if (known !== undefined) return known
  const { start, end } = span
  if (start === undefined || end === undefined) return undefined
  const length = (node: SpanNode): bigint => node.span.end! - node.span.start!
  let nearest: SpanNode | undefined
  for (const node of nodes.values()) {
    const { span: around } = node
    if (around === span || node.kind === undefined || around.start === undefined || around.end === undefined)
      continue
    const isAround = around.start <= start && around.end >= end && length(node) > end - start
    if (isAround && (nearest === undefined || length(node) < length(nearest))) nearest = node
  }
  return nearest
}

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
