import { isTrained, type Span, type Stream, type TrajectoryEvent } from '../../schema/index.ts'
import type {
  AgentUse,
  ChainView,
  EventPage,
  EventView,
  RolloutView,
  SpanView,
  TaskView,
  TokenCounts,
  TrajectoryView,
} from '../api.ts'
import { Problem } from '../problem.ts'
import { attemptsAt, chainsWhere, rolloutsWhere, trajectoriesOf } from './lists.ts'
import type { OpenRun } from './open-runs.ts'
import { cursorOf, Query } from './query.ts'

/** Texts of events in lists. */
const SHOWN = 4000
const FIRST_EVENTS = '500'

export function missing(what: string, id: string): Problem {
  return new Problem(404, `there is no ${what} ${JSON.stringify(id.slice(0, 200))} in this run`)
}

export function task({ run, index }: OpenRun, id: string): TaskView {
  const found = run.get('task', id)
  if (found === undefined) throw missing('task', id)
  return {
    task: found,
    trajectories: trajectoriesOf(index, id),
    chains: chainsWhere(index, 'taskId', id),
    rollouts: rolloutsWhere(index, 'taskId', id),
    attempts: attemptsAt(index, id),
  }
}

export function trajectory(open: OpenRun, id: string): TrajectoryView {
  const found = open.run.get('trajectory', id)
  if (found === undefined) throw missing('trajectory', id)
  const { events, ...rest } = found
  return {
    trajectory: rest,
    suite: suiteOf(open, rest),
    agents: agentsOf(events),
    seconds: events.reduce((end, { t }) => Math.max(end, t), 0) / 1000,
    events: eventPage(open, id, events, new Query({ limit: FIRST_EVENTS })),
    chains: chainsWhere(open.index, 'trajectoryId', id),
  }
}

export function events(open: OpenRun, id: string, query: Query): EventPage {
  const found = open.run.get('trajectory', id)
  if (found === undefined) throw missing('trajectory', id)
  return eventPage(open, id, found.events, query)
}

export function event(open: OpenRun, id: string, eventId: string): EventView {
  const found = open.run.get('trajectory', id)
  const at = found?.events.findIndex((one) => one.id === eventId) ?? -1
  if (found === undefined || at < 0) throw missing('event', eventId)
  return { event: found.events[at]!, index: at, cut: false, spans: spansByEvent(open, id).get(eventId) ?? [] }
}

function eventPage(open: OpenRun, id: string, all: readonly TrajectoryEvent[], query: Query): EventPage {
  const from = Number(query.cursor?.[0] ?? 0)
  const until = from + query.limit
  const sources = spansByEvent(open, id)
  return {
    rows: all.slice(from, until).map((one, at) => {
      const short = shortened(one)
      return { event: short, index: from + at, cut: short !== one, spans: sources.get(one.id) ?? [] }
    }),
    ...(until < all.length ? { next: cursorOf(until) } : {}),
    total: all.length,
  }
}

/** Which spans of the chains made from a trajectory each of its events became. */
function spansByEvent({ run, index }: OpenRun, trajectoryId: string): Map<string, EventView['spans']> {
  const found = new Map<string, EventView['spans']>()
  for (const { id } of chainsWhere(index, 'trajectoryId', trajectoryId)) {
    for (const [span, { origin }] of (run.get('sequence', id)?.spans ?? []).entries())
      if ('events' in origin)
        for (const source of origin.events) {
          const known = found.get(source)
          if (known === undefined) found.set(source, [{ chain: id, span }])
          else known.push({ chain: id, span })
        }
  }
  return found
}

/** The event itself if all of its texts are short. */
function shortened(one: TrajectoryEvent): TrajectoryEvent {
  let cut = false
  const short = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (value.length <= SHOWN) return value
      cut = true
      return `${value.slice(0, SHOWN).toWellFormed()}…`
    }
    if (Array.isArray(value)) return value.map(short)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, short(part)]))
  }
  const result = short(one) as TrajectoryEvent
  return cut ? result : one
}

function agentsOf(all: readonly TrajectoryEvent[]): AgentUse[] {
  const found = new Map<string, AgentUse>()
  for (const one of all) {
    const { agent, t } = one
    const use = found.get(agent) ?? {
      agent,
      requests: 0,
      promptTokens: 0,
      completionTokens: 0,
      calls: 0,
      firstAt: t,
      lastAt: t,
    }
    found.set(agent, use)
    use.lastAt = Math.max(use.lastAt, t)
    if (one.type === 'tool-called') use.calls++
    if (one.type !== 'wrote') continue
    use.requests++
    use.promptTokens += one.usage?.promptTokens ?? 0
    use.completionTokens += one.usage?.completionTokens ?? 0
  }
  return [...found.values()]
}

function suiteOf({ index }: OpenRun, { id }: { id: string }): string {
  return index.get<{ suite: string }>('SELECT suite FROM trajectory WHERE id = ?', id)?.suite ?? ''
}

export function chain({ run, index }: OpenRun, id: string): ChainView {
  const found = run.get('sequence', id)
  const row = chainsWhere(index, 'id', id)[0]
  if (found === undefined || row === undefined) throw missing('chain', id)
  return { row, ...chainParts(found) }
}

function chainParts({ spans, promptTokens, ...rest }: Stream): Omit<ChainView, 'row'> {
  const counts = tokenCounts(spans, promptTokens)
  return {
    chain: rest,
    spans: spans.map(spanView),
    ...(counts === undefined ? {} : { tokenCounts: counts }),
  }
}

function spanView(span: Span, index: number): SpanView {
  const { agent, kind, text, origin, tokens, logprobs, shortened: rest } = span
  return {
    index,
    agent,
    kind,
    text,
    trained: isTrained(span),
    origin,
    ...(tokens === undefined ? {} : { tokens: tokens.length }),
    ...(logprobs === undefined || logprobs.length === 0
      ? {}
      : { meanLogprob: logprobs.reduce((sum, one) => sum + one, 0) / logprobs.length }),
    ...(rest === undefined ? {} : { shortened: true }),
  }
}

function tokenCounts(spans: readonly Span[], prompt: readonly number[] = []): TokenCounts | undefined {
  if (spans.every(({ tokens }) => tokens === undefined)) return undefined
  const counts = { prompt: prompt.length, trained: 0, masked: 0 }
  for (const span of spans) counts[isTrained(span) ? 'trained' : 'masked'] += span.tokens?.length ?? 0
  return counts
}

export function rollout({ run, index }: OpenRun, id: string): RolloutView {
  const found = run.get('rollout', id)
  const row = rolloutsWhere(index, 'id', id)[0]
  if (found === undefined || row === undefined) throw missing('rollout', id)
  const { calls, ms, seed, verdict, failure, groupId } = found
  const siblings = index.all<{ id: string }>(
    'SELECT id FROM rollout WHERE groupId = ? ORDER BY seq LIMIT 1000',
    groupId,
  )
  const at = siblings.findIndex((one) => one.id === id)
  const [previous, next] = [siblings[at - 1]?.id, siblings[at + 1]?.id]
  const { taskId, suite, outcome } = row
  const question =
    found.prompt.findLast(({ role }) => role === 'user')?.content ?? run.get('task', taskId)?.question ?? ''
  const parts = chainParts(found)
  const spans = found.spans
  return {
    ...parts,
    row: {
      id,
      taskId,
      suite,
      grammar: found.grammar,
      origin: 'rollout',
      outcome,
      question,
      spans: spans.length,
      calls: calls.length,
      characters: spans.reduce((sum, { text }) => sum + text.length, 0),
      ...(row.mark === undefined ? {} : { mark: row.mark }),
    },
    rollout: row,
    calls,
    ms,
    seed,
    ...(verdict === undefined ? {} : { verdict }),
    ...(failure === undefined ? {} : { failure }),
    siblings: { ...(previous === undefined ? {} : { previous }), ...(next === undefined ? {} : { next }) },
  }
}
