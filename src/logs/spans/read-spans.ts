import { type ChatTurn, turnKey } from '../chat-turn.ts'
import type { LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { problemsOf } from './incomplete.ts'
import { runOfTrace } from './run-of-trace.ts'
import type { Span, SpanEvent } from './span.ts'
import { type SpanNode, treeOf } from './span-tree.ts'
import { spansOf } from './spans-of.ts'

/**
 * The runs in files of spans: one for each trace, or for several traces that are parts of one chat. All files are read
 * first, because a trace may be spread over lines and files in any order.
 */
export async function* readSpans(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  const traces = new Map<string, Span[]>()
  const logs = new Map<string, SpanEvent[]>()
  for await (const { value, where } of records) {
    const found = spansOf(value, where)
    if (found.spans.length === 0 && found.logs.length === 0) yield { where, problem: 'it has no spans' }
    for (const span of found.spans) listAt(traces, span.trace).push(span)
    for (const log of found.logs) listAt(logs, keyOf(log)).push(log.event)
  }
  for (const span of spansOfLogs(logs, traces)) listAt(traces, span.trace).push(span)
  const trees: Tree[] = []
  for (const [id, spans] of traces) {
    const [tree] = yield* attempted(spans[0]!.where, () => [{ id, nodes: treeOf(withLogs(spans, logs)) }])
    if (tree !== undefined) trees.push(tree)
  }
  const others: string[] = []
  for (const { id, nodes } of chatsOf(trees)) {
    const { where } = nodes[0]!.span
    const { problems, isReadable } = problemsOf(nodes)
    for (const problem of problems) yield { where, problem }
    if (!isReadable && problems.length === 0) others.push(where)
    if (isReadable) yield* yield* attempted(where, () => [runOfTrace(nodes, id)])
  }
  // Services trace much besides their agents.
  if (others.length > 0)
    yield { where: others[0]!, problem: `traces without spans of models or agents: ${others.length}` }
}

/** One trace that cannot be read does not stop the others. */
function* attempted<T>(where: string, read: () => T[]): Generator<Unreadable, T[]> {
  try {
    return read()
  } catch (error) {
    yield { where, problem: (error as Error).message }
    return []
  }
}

interface Tree {
  id: string
  nodes: SpanNode[]
}

const keyOf = ({ trace, span }: { trace: string; span: string }): string => `${trace} ${span}`

function listAt<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}

/** Log records of model calls whose spans are in no file tell what was said all the same. */
function spansOfLogs(
  logs: ReadonlyMap<string, readonly SpanEvent[]>,
  traces: ReadonlyMap<string, readonly Span[]>,
): Span[] {
  const known = new Set([...traces.values()].flat().map(({ trace, id }) => keyOf({ trace, span: id })))
  return [...logs].flatMap(([key, events]) => {
    if (known.has(key) || !events.some(({ name }) => name.startsWith('gen_ai.'))) return []
    const [trace, id] = key.split(' ') as [string, string]
    const time = events.find((event) => event.time !== undefined)?.time
    const times = time === undefined ? {} : { start: time, end: time }
    return [
      {
        trace,
        id,
        name: 'model call',
        ...times,
        scope: '',
        attributes: {},
        events: [],
        dropped: 0,
        where: 'log records',
      },
    ]
  })
}

/** Adds log records to the events of their spans. */
function withLogs(spans: readonly Span[], logs: ReadonlyMap<string, readonly SpanEvent[]>): Span[] {
  return spans.map((span) => {
    const own = logs.get(keyOf({ trace: span.trace, span: span.id }))
    return own === undefined ? span : { ...span, events: [...span.events, ...own] }
  })
}

/**
 * Traces of one conversation, one for each message of the user. They are one run if a later one repeats what was written
 * in an earlier one; a conversation's id alone may also stand for a session of independent questions.
 */
function chatsOf(trees: readonly Tree[]): Tree[] {
  const chats: Tree[] = []
  const open = new Map<string, { tree: Tree; written: Set<string> }>()
  for (const tree of [...trees].sort(byTime)) {
    const conversation = tree.nodes.find((node) => node.conversation !== undefined)?.conversation
    const known = conversation === undefined ? undefined : open.get(conversation)
    const first = tree.nodes.find(({ messages = [] }) => messages.length > 0)?.messages ?? []
    if (known !== undefined && first.some((turn) => isWritten(turn) && known.written.has(turnKey(turn)))) {
      append(known.tree, tree)
      addWritten(known.written, tree)
      continue
    }
    const copy = { id: tree.id, nodes: [...tree.nodes] }
    chats.push(copy)
    if (conversation !== undefined)
      open.set(conversation, { tree: copy, written: addWritten(new Set(), tree) })
  }
  return chats
}

const isWritten = ({ role, text }: ChatTurn): boolean => role === 'assistant' && text !== ''

function addWritten(written: Set<string>, { nodes }: Tree): Set<string> {
  for (const { output = [] } of nodes) for (const turn of output) written.add(turnKey(turn))
  return written
}

/** Each tree's clock starts at zero. */
function append({ nodes }: Tree, { nodes: later }: Tree): void {
  const end = Math.max(...nodes.map((node) => node.end)) + 1
  for (const node of later) {
    node.start += end
    node.end += end
    nodes.push(node)
  }
}

function byTime({ nodes: one }: Tree, { nodes: other }: Tree): number {
  const [start, next] = [one[0]?.span.start ?? 0n, other[0]?.span.start ?? 0n]
  return start < next ? -1 : start > next ? 1 : 0
}
