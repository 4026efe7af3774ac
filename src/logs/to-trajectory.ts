import { digestOf } from '../base/digests/index.ts'
import type { Trajectory, TrajectoryEvent, Verdict } from '../schema/index.ts'
import type { Json, LeftOut, LoggedItem, LoggedRun } from './contract.ts'
import { contributionOf } from './roles.ts'
import { endsWork, withoutRouting } from './routing.ts'
import { isCode, toolName } from './tool-names.ts'
import { unread } from './unread.ts'

export interface Head {
  id: string
  taskId: string
  team: string
  /** Words of the format that are not worth reporting as left out. */
  markup?: RegExp | undefined
}

/**
 * A logged run as a trajectory. Each event's cause is the one before it, except that a result belongs to its call and a
 * call to the turn that made it. What the log says and no event contains is in `meta.leftOut`.
 */
export function toTrajectory(run: LoggedRun, { id, taskId, team, markup }: Head): Trajectory {
  const { events, leftOut } = new Assembler().assemble(run)
  const answer = events.findLast((event) => event.type === 'answered')?.text
  const question = run.question ?? questionOf(run.items)
  const asked = question === '' ? [] : [question]
  const said = [
    ...asked,
    ...(run.gold ?? []),
    ...(run.leftOut ?? []).map(({ text }) => text),
    run.id ?? '',
    ...namesOf(run),
    ...stringsIn(run.meta ?? null),
    ...(run.tools ?? []).flatMap(({ description = '', parameters = null }) => [
      description,
      ...stringsIn(parameters),
    ]),
  ]
  const missed = [
    ...(run.leftOut ?? []),
    ...leftOut,
    ...unread(run.source, [...said, ...leftOut.map(({ text }) => text), ...textsOf(events)], markup),
  ]
  return {
    v: 1,
    id,
    taskId,
    team,
    question,
    events,
    ...(answer === undefined ? {} : { answer }),
    ...(run.correct === undefined ? {} : { verdict: loggedVerdict(run.correct) }),
    meta: {
      ...run.meta,
      ...(missed.length === 0 ? {} : { leftOut: missed.map((note) => ({ ...note })) }),
    },
  }
}

/** Runs of the same question are attempts at the same task. */
export function taskIdOf(question: string): string {
  return `question-${digestOf(question.trim()).slice(0, 16)}`
}

/** The first thing a user says. */
export function questionOf(items: readonly LoggedItem[]): string {
  for (const item of items) {
    if (item.type !== 'prompted') continue
    const asked = item.messages.find(({ role }) => role === 'user')
    if (asked !== undefined) return asked.content
  }
  return ''
}

function loggedVerdict(correct: boolean): Verdict {
  return { outcome: correct ? 'correct' : 'wrong', checker: 'log', evidence: 'according to the log' }
}

interface OpenCall {
  id: string
  tool: string
  call: string | undefined
}

class Assembler {
  readonly #events: TrajectoryEvent[] = []
  readonly #leftOut: LeftOut[] = []
  /** Calls that have no result yet. */
  readonly #open: OpenCall[] = []
  /** The latest turn of each agent, to which its calls belong. */
  readonly #turns = new Map<string, string>()

  assemble(run: LoggedRun): { events: TrajectoryEvent[]; leftOut: LeftOut[] } {
    const items = withAnswer(run)
    const times = timesOf(items)
    for (const [index, item] of withPurpose(items).entries()) this.#add(item, times[index]!)
    return { events: this.#events, leftOut: this.#leftOut }
  }

  #add(item: LoggedItem, t: number): void {
    const { agent } = item
    switch (item.type) {
      case 'prompted':
        this.#push({ type: 'activated', agent, parent: this.#last, t, messages: [...item.messages] })
        return
      case 'wrote': {
        const { type, text, thought, said, usage } = item
        const id = this.#push({
          type,
          agent,
          parent: this.#last,
          t,
          text,
          ...(thought === undefined ? {} : { thought }),
          ...(said === undefined ? {} : { said }),
          ...(usage === undefined ? {} : { usage }),
        })
        this.#turns.set(agent, id)
        return
      }
      case 'called': {
        const tool = isCode(item.tool) ? 'code' : toolName(item.tool)
        const parent = this.#turns.get(agent) ?? this.#last
        const id = this.#push({ type: 'tool-called', agent, parent, t, tool, input: item.input as Json })
        this.#open.push({ id, tool, call: item.call })
        return
      }
      case 'returned':
        this.#returned(item, t)
        return
      case 'sent':
        this.#push({ type: 'sent', agent, parent: this.#last, t, to: item.to, text: item.text })
        return
      case 'answered':
        this.#push({
          type: 'answered',
          agent,
          parent: this.#turns.get(agent) ?? this.#last,
          t,
          text: item.text,
        })
        return
      case 'failed':
        this.#push({
          type: 'failed',
          agent,
          parent: this.#last,
          t,
          boundary: item.unreadable === true ? 'import' : 'log',
          message: item.message,
        })
    }
  }

  #returned(item: Extract<LoggedItem, { type: 'returned' }>, t: number): void {
    const { agent, output, ok = true } = item
    const call = this.#take(item)
    if (call === undefined) {
      this.#leftOut.push({ at: 'result', reason: 'a tool result without a call', text: output })
      return
    }
    this.#push({ type: 'tool-answered', agent, parent: call.id, t, tool: call.tool, output, ok })
    // What is written next belongs to a new turn, so a later call without one has this result as its cause.
    this.#turns.delete(agent)
  }

  /** By id; only a log without ids is paired by the name of the tool, then by order. */
  #take({ call, tool }: { call?: string; tool?: string }): OpenCall | undefined {
    const byId = call === undefined ? -1 : this.#open.findIndex((open) => open.call === call)
    const nameless = (open: OpenCall): boolean => open.call === undefined || call === undefined
    const wanted = tool === undefined ? undefined : isCode(tool) ? 'code' : toolName(tool)
    const byName = this.#open.findIndex((open) => nameless(open) && open.tool === wanted)
    const inOrder = wanted === undefined ? this.#open.findIndex(nameless) : -1
    const index = [byId, byName, inOrder].find((found) => found >= 0)
    return index === undefined ? undefined : this.#open.splice(index, 1)[0]
  }

  get #last(): string | null {
    return this.#events.at(-1)?.id ?? null
  }

  #push(event: DistributiveOmit<TrajectoryEvent, 'id'>): string {
    const id = `e${this.#events.length + 1}`
    this.#events.push({ ...event, id } as TrajectoryEvent)
    return id
  }
}

/** With the answer that the log names apart from its items, and without the words that only end the work. */
function withAnswer({ items: logged, answer }: LoggedRun): readonly LoggedItem[] {
  const items = logged.map((item) =>
    item.type === 'answered' ? { ...item, text: answerIn(item.text) } : item,
  )
  if (answer === undefined || items.some(({ type }) => type === 'answered')) return items
  const last = items.at(-1)
  const agent = items.findLast(({ type }) => type === 'wrote')?.agent ?? last?.agent ?? 'assistant'
  const when = last?.at === undefined ? {} : { at: last.at }
  return [...items, { type: 'answered', agent, text: answerIn(answer), ...when }]
}

const answerIn = (text: string): string => (endsWork(text) ? withoutRouting(text) || text : text)

/**
 * What each turn was for. Distillation takes text without a purpose for an unusable reply where other text has one, so
 * either all turns have one or none. What is said next to a call is a thought, and so is what is said before the answer.
 */
function withPurpose(items: readonly LoggedItem[]): readonly LoggedItem[] {
  const turns = items.map((item, index): LoggedItem => {
    if (item.type !== 'wrote' || item.said !== undefined) return item
    const { agent, text, thought } = item
    const next = items[index + 1]
    if (next?.type === 'called' && next.agent === agent) return { ...item, thought: joined(thought, text) }
    if (next?.type === 'answered' && next.agent === agent) {
      if (text.trim() === next.text.trim()) return item
      const words = endsWork(text) ? withoutRouting(text) : text
      return {
        ...item,
        thought: joined(thought, withoutEnd(words, next.text)),
        said: { as: 'answer', text: next.text },
      }
    }
    const as = contributionOf(agent) ?? (thought === undefined || text === '' ? undefined : 'report')
    return as === undefined ? item : { ...item, said: { as, text } }
  })
  if (!turns.some((item) => item.type === 'wrote' && item.said !== undefined)) return turns
  return turns.map((item, index) =>
    item.type !== 'wrote' || item.said !== undefined || turns[index + 1]?.type === 'called'
      ? item
      : { ...item, said: { as: 'report', text: item.text } },
  )
}

const joined = (...texts: (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined && text.trim() !== '').join('\n')

function withoutEnd(text: string, end: string): string {
  const trimmed = text.trimEnd()
  return trimmed.endsWith(end) ? trimmed.slice(0, -end.length).trimEnd() : text
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** Milliseconds since the first item if every item has a time, else positions. Never decreasing, because the order counts. */
function timesOf(items: readonly LoggedItem[]): number[] {
  if (items.some(({ at }) => at === undefined)) return items.map((_, index) => index)
  const start = Math.min(...items.map(({ at }) => at!))
  let latest = 0
  return items.map(({ at }) => {
    latest = Math.max(latest, Math.round(at! - start))
    return latest
  })
}

/** Every text of the events. */
function textsOf(events: readonly TrajectoryEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'activated':
        return event.messages.map(({ content }) => content)
      case 'wrote':
        return [event.text, event.thought ?? '', event.said?.text ?? '']
      case 'tool-called':
        return stringsIn(event.input)
      case 'tool-answered':
        return [event.output]
      case 'failed':
        return [event.message]
      default:
        return [event.text]
    }
  })
}

/** Names of agents and tools as the log spells them, and the ids of calls. */
function namesOf({ items, tools = [] }: LoggedRun): string[] {
  const called = items.flatMap((item) =>
    item.type === 'called' || item.type === 'returned' ? [item.tool ?? '', item.call ?? ''] : [],
  )
  return [...new Set([...items.map(({ agent }) => agent), ...called, ...tools.map(({ name }) => name)])]
}

function stringsIn(value: Json | LoggedRun['meta']): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return [...Object.keys(value), ...Object.values(value).flatMap(stringsIn)]
}
