import { agentNameIn } from './agent-names.ts'
import { type ChatTurn, turnKey } from './chat-turn.ts'
import type { Json, LoggedItem } from './contract.ts'
import { withoutEarlierTurns } from './earlier-turns.ts'
import { withHandOffs } from './hand-offs.ts'
import { itemsOfCalls } from './model-calls.ts'
import { withTextActions } from './text-actions.ts'
import { toolName } from './tool-names.ts'

interface StepBase {
  id: string
  /** Its name in the trace. */
  name: string
  /** Decides between steps that began at the same time. */
  order: string
  /** In milliseconds. */
  start: number
  end: number
  /** Undefined if the trace does not say. */
  agent: string | undefined
  /** The steps around it, from the nearest outwards. */
  around: readonly string[]
}

/** A model call of a trace. */
export interface ModelStep extends StepBase {
  messages: readonly ChatTurn[]
  output: readonly ChatTurn[]
  error?: string
}

/** A tool run of a trace. */
export interface ToolStep extends StepBase {
  call?: string
  tool: string
  input: Json
  output: string
  ok: boolean
}

/** What happened in a trace. Tools are run once, though both messages and steps of the trace may tell of it. */
export function itemsOfSteps(
  models: readonly ModelStep[],
  tools: readonly ToolStep[],
): ReturnType<typeof withHandOffs> {
  const { calls, leftOut } = withoutEarlierTurns(namedBySystem([...withoutRepeats(models)].sort(byTime)))
  const written = itemsOfCalls(calls.map((step) => ({ ...step, at: step.start })))
  const merged = new ToolRuns(withTextActions(written, tools))
  for (const step of withoutNested([...tools].sort(byTime), models)) merged.add(step)
  const read = withHandOffs(merged.items())
  return { ...read, leftOut: [...leftOut, ...read.leftOut] }
}

const byTime = (one: StepBase, other: StepBase): number =>
  one.start - other.start || one.end - other.end || (one.order < other.order ? -1 : 1)

/** Agents that the trace does not name are told apart by what they were told first. */
function namedBySystem(steps: readonly ModelStep[]): (ModelStep & { agent: string })[] {
  const names = new Map<string, string>()
  return steps.map((step) => {
    if (step.agent !== undefined) return { ...step, agent: step.agent }
    const system = step.messages.find(({ role }) => role === 'system')?.text ?? ''
    const said = agentNameIn(system)
    const taken = new Set(names.values())
    const name = names.get(system) ?? (taken.has(said) ? `${said}-${names.size + 1}` : said)
    names.set(system, name)
    return { ...step, agent: name }
  })
}

/**
 * Several instrumentations may see one call: a framework's step around that of a model's client, or one next to the
 * other under different names. A step around several calls is the framework's loop, so the calls are kept.
 */
function withoutRepeats(steps: readonly ModelStep[]): readonly ModelStep[] {
  const inside = new Map<string, ModelStep[]>()
  for (const step of steps)
    for (const id of step.around) {
      const list = inside.get(id)
      if (list === undefined) inside.set(id, [step])
      else list.push(step)
    }
  const dropped = new Set<ModelStep>()
  for (const step of steps) {
    const inner = inside.get(step.id) ?? []
    if (inner.length === 1) dropped.add(richness(step) > richness(inner[0]!) ? inner[0]! : step)
    else if (inner.length > 1) dropped.add(step)
  }
  const kept = steps.filter((step) => !dropped.has(step))
  const byOutput = new Map<string, ModelStep[]>()
  for (const step of kept) {
    const key = JSON.stringify(step.output.map(turnKey))
    const same = byOutput.get(key) ?? []
    if (step.output.length > 0 && same.some((other) => isTwin(step, other))) dropped.add(step)
    else byOutput.set(key, [...same, step])
  }
  return kept.filter((step) => !dropped.has(step))
}

/** Client libraries see more of an answer than those that only see its text. */
const richness = ({ output, messages }: ModelStep): number =>
  output.reduce((sum, turn) => sum + turn.calls.length * 10 + (turn.text === '' ? 0 : 1), 0) +
  (messages.length > 0 ? 1 : 0)

const isTwin = (one: ModelStep, other: ModelStep): boolean =>
  one.name !== other.name &&
  ((one.start >= other.start && one.end <= other.end) || (one.start <= other.start && one.end >= other.end))

/** What a tool runs within itself is its own business, unless an agent works in it; the same run may be seen twice. */
function withoutNested(steps: readonly ToolStep[], models: readonly ModelStep[]): ToolStep[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const hasAgent = new Set(models.flatMap(({ around }) => around))
  return steps.filter(
    (step) =>
      !step.around.some((id) => {
        const outer = byId.get(id)
        if (outer === undefined) return false
        return !hasAgent.has(id) || keyOf(step.tool, step.input) === keyOf(outer.tool, outer.input)
      }),
  )
}

const keyOf = (tool: string, input: Json): string => `${toolName(tool)} ${sorted(input)}`

/** JSON that does not depend on the order of keys. */
const sorted = (input: Json): string =>
  JSON.stringify(input, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )

type Called = Extract<LoggedItem, { type: 'called' }>
type Returned = Extract<LoggedItem, { type: 'returned' }>

/** Adds tool runs to the items of model calls. */
class ToolRuns {
  #items: LoggedItem[]
  /** Calls that no run was found for yet. */
  readonly #open: Set<Called>

  constructor(items: readonly LoggedItem[]) {
    this.#items = withIds(items)
    this.#open = new Set(this.#items.filter((item): item is Called => item.type === 'called'))
  }

  /** The result belongs to the agent that called, also where another agent reads it first. */
  items(): LoggedItem[] {
    const callers = new Map<string | undefined, string>()
    for (const item of this.#items) if (item.type === 'called') callers.set(item.call, item.agent)
    return this.#items.map((item) =>
      item.type === 'returned' && item.call !== undefined
        ? { ...item, agent: callers.get(item.call) ?? item.agent }
        : item,
    )
  }

  add(step: ToolStep): void {
    const call = this.#callOf(step)
    if (call !== undefined) {
      this.#open.delete(call)
      const known = this.#items.find(
        (item): item is Returned => item.type === 'returned' && item.call === call.call,
      )
      if (known === undefined) this.#insert(this.#resultOf(step, call.agent, call.call!))
      else if (!step.ok) known.ok = false
      return
    }
    const agent = step.agent ?? this.#writerBefore(step.start)
    const id = `run:${step.id}`
    this.#insert({ type: 'called', agent, at: step.start, tool: step.tool, input: step.input, call: id })
    this.#insert(this.#resultOf(step, agent, id))
  }

  /** By id, by name and input, or by name; the first that is not taken, and never one that came later. */
  #callOf(step: ToolStep): Called | undefined {
    const open = [...this.#open]
    const byId = step.call === undefined ? undefined : open.find(({ call }) => call === step.call)
    if (byId !== undefined) return byId
    const same = open.filter(
      (call) => toolName(call.tool) === toolName(step.tool) && (call.at ?? 0) <= step.start,
    )
    const key = keyOf(step.tool, step.input)
    return same.find((call) => keyOf(call.tool, call.input) === key) ?? same[0]
  }

  #resultOf({ output, ok, end }: ToolStep, agent: string, call: string): Returned {
    return { type: 'returned', agent, at: end, output, call, ...(ok ? {} : { ok }) }
  }

  /** Before the first item that is later. */
  #insert(item: LoggedItem): void {
    const later = this.#items.findIndex(({ at = 0 }) => at > item.at!)
    this.#items.splice(later < 0 ? this.#items.length : later, 0, item)
  }

  #writerBefore(time: number): string {
    const before = this.#items.findLast(({ type, at = 0 }) => type === 'wrote' && at <= time)
    return before?.agent ?? 'assistant'
  }
}

/** Calls and results that have no ids get some: a result without one belongs to the first open call of its tool. */
function withIds(items: readonly LoggedItem[]): LoggedItem[] {
  const open: Called[] = []
  let count = 0
  return items.map((item): LoggedItem => {
    if (item.type === 'called') {
      const named = { ...item, call: item.call ?? `call:${++count}` }
      open.push(named)
      return named
    }
    if (item.type !== 'returned') return item
    const { call, tool } = item
    const nameless = (one: Called): boolean => call === undefined || one.call!.startsWith('call:')
    const index =
      [
        open.findIndex((one) => call !== undefined && one.call === call),
        open.findIndex((one) => nameless(one) && tool !== undefined && toolName(one.tool) === toolName(tool)),
        tool === undefined ? open.findIndex(nameless) : -1,
      ].find((found) => found >= 0) ?? -1
    const [found] = index < 0 ? [] : open.splice(index, 1)
    return { ...item, ...(found === undefined ? {} : { call: found.call! }) }
  })
}
