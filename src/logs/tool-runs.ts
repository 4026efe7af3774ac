import type { Json, LoggedItem } from './contract.ts'
import { isCode, toolName } from './tool-names.ts'

/** One run of a tool, as a span or a run record tells it. Its call may also be in a model's output. */
export interface ToolRun {
  /** Who called it, where no model's output says so. */
  agent: string
  tool: string
  input?: Json
  output?: string
  ok?: boolean
  /** The id of the call; most logs have none. */
  call?: string
  /** In milliseconds, on the clock of the items. */
  start: number
  end: number
}

type Called = Extract<LoggedItem, { type: 'called' }>
type Returned = Extract<LoggedItem, { type: 'returned' }>

/**
 * Items of model calls (with times) together with the runs of tools. A run belongs to the call with its id, else to the
 * first one with its tool and its input, else to the first one with its tool. Each call and each result stays single: what
 * the model was sent as the result is kept, because that is what it has seen.
 */
export function withToolRuns(items: readonly LoggedItem[], runs: readonly ToolRun[]): LoggedItem[] {
  const copies = items.map((item) => ({ ...item }))
  const matches = match(
    copies.filter((item) => item.type === 'called'),
    runs,
  )
  const timeline = new Timeline(copies)
  for (const run of [...runs].sort((one, other) => one.start - other.start))
    if (!matches.has(run)) matches.set(run, timeline.addCall(run))
  let number = 0
  for (const run of [...runs].sort((one, other) => one.end - other.end || other.start - one.start)) {
    const called = matches.get(run)!
    // Without an id, a result would be paired with another call of the tool.
    const hasId = called.call !== undefined
    called.call ??= `run ${++number}`
    if (!timeline.hasResult(called, run, hasId)) timeline.addResult(called, run)
  }
  return timeline.items
}

/** The call of each run, if a model's output has it. */
function match(calls: readonly Called[], runs: readonly ToolRun[]): Map<ToolRun, Called> {
  const found = new Map<ToolRun, Called>()
  const taken = new Set<Called>()
  const inOrder = [...runs].sort((one, other) => one.start - other.start)
  const ways: ((run: ToolRun, called: Called) => boolean)[] = [
    (run, called) => run.call !== undefined && run.call === called.call,
    (run, called) => isLater(run, called) && sameInput(run.input, called.input) && run.agent === called.agent,
    (run, called) => isLater(run, called) && sameInput(run.input, called.input),
    (run, called) => isLater(run, called) && run.agent === called.agent,
    isLater,
  ]
  for (const fits of ways)
    for (const run of inOrder) {
      if (found.has(run)) continue
      const called = calls.find((one) => !taken.has(one) && fits(run, one))
      if (called === undefined) continue
      found.set(run, called)
      taken.add(called)
    }
  return found
}

const isLater = (run: ToolRun, called: Called): boolean =>
  wireName(run.tool) === wireName(called.tool) && (called.at ?? 0) <= run.start

const wireName = (tool: string): string => (isCode(tool) ? 'code' : toolName(tool))

function sameInput(one: Json | undefined, other: Json): boolean {
  return one !== undefined && canonical(one) === canonical(other)
}

/** JSON with sorted keys. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}

class Timeline {
  readonly items: LoggedItem[]
  readonly #paired = new Set<Returned>()

  constructor(items: LoggedItem[]) {
    this.items = items
  }

  addCall({ agent, tool, input = {}, call, start }: ToolRun): Called {
    const called: Called = {
      type: 'called',
      agent,
      tool,
      input,
      at: start,
      ...(call === undefined ? {} : { call }),
    }
    const next = this.items.findIndex(({ at = 0 }) => at > start)
    this.items.splice(next < 0 ? this.items.length : next, 0, called)
    return called
  }

  /** Whether a model was sent the result of a call. A result without an id now gets that of its call. */
  hasResult(called: Called, { output, ok }: ToolRun, hasId: boolean): boolean {
    const from = this.items.indexOf(called)
    const later = this.items.slice(from + 1).filter((item) => item.type === 'returned')
    const known = hasId ? later.find(({ call }) => call === called.call) : undefined
    if (known !== undefined) {
      // Messages do not say whether a tool failed.
      if (ok === false) known.ok = false
      return true
    }
    const open = later.filter((item) => item.call === undefined && !this.#paired.has(item))
    const found =
      open.find((item) => item.output === output) ??
      open.find(({ tool }) => tool !== undefined && wireName(tool) === wireName(called.tool)) ??
      open.find(({ tool, agent }) => tool === undefined && agent === called.agent)
    if (found === undefined) return false
    found.call = called.call!
    if (ok === false) found.ok = false
    this.#paired.add(found)
    return true
  }

  addResult(called: Called, { tool, output, ok, end }: ToolRun): void {
    if (output === undefined) return
    const from = this.items.indexOf(called) + 1
    const next = this.items.slice(from).findIndex(({ at = 0 }) => at >= end)
    const returned: Returned = {
      type: 'returned',
      agent: called.agent,
      tool,
      output,
      call: called.call!,
      at: end,
    }
    if (ok !== undefined) returned.ok = ok
    this.items.splice(next < 0 ? this.items.length : from + next, 0, returned)
  }
}
