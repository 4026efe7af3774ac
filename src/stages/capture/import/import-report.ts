import type { ToolLike } from '../../../language/voice/index.ts'
import { general, type LeftOut, NOT_READ, type Unreadable } from '../../../logs/index.ts'
import type { Trajectory } from '../../../schema/index.ts'
import { renameRule } from './rename-rule.ts'

const EXAMPLES = 3
const LONGEST = 200

/** What was understood of the logs and what was not. */
export interface ImportSummary {
  figures: Record<string, number>
  formats: { format: string; files: number; runs: number }[]
  /** Who took part, and what the agent's text becomes. */
  agents: { agent: string; turns: number; calls: number; as: string }[]
  tools: { tool: string; calls: number; unanswered: number }[]
  /** Records that could not be read, by reason. */
  unreadable: Finding[]
  /** Text of the logs that is in no event, by field. */
  leftOut: (Finding & { characters: number })[]
  /** Text of agents that looks like tool output. */
  toolLike: { kind: string; count: number; examples: string[]; rule?: string }[]
}

interface Finding {
  what: string
  count: number
  examples: string[]
  /** What the user can add so that it is understood: a line of [rename], a map, or the agent whose words to drop. */
  rule?: string
}

export class ImportReport {
  readonly #figures: Record<string, number> = {
    runs: 0,
    'imported before': 0,
    tasks: 0,
    answered: 0,
    'tool calls': 0,
    'characters left out': 0,
    unreadable: 0,
  }
  readonly #formats = new Map<string, ImportSummary['formats'][number]>()
  readonly #agents = new Map<string, ImportSummary['agents'][number]>()
  readonly #tools = new Map<string, ImportSummary['tools'][number]>()
  readonly #unreadable = new Map<string, Finding>()
  readonly #toolLike = new Map<string, Finding>()
  readonly #leftOut = new Map<string, ImportSummary['leftOut'][number]>()

  format(format: string, files: number): void {
    const known = this.#formats.get(format) ?? { format, files: 0, runs: 0 }
    this.#formats.set(format, { ...known, files: known.files + files })
  }

  unreadable({ where, problem, rule }: Unreadable): void {
    this.#figures['unreadable']!++
    count(this.#unreadable, problem, where, rule)
  }

  raise(figure: string, by = 1): void {
    this.#figures[figure] = (this.#figures[figure] ?? 0) + by
  }

  add(format: string, { events, answer, verdict, meta }: Trajectory, source: readonly unknown[]): void {
    this.raise('runs')
    this.#formats.get(format)!.runs++
    if (answer !== undefined) this.raise('answered')
    if (verdict !== undefined) this.raise(`${verdict.outcome} according to the log`)
    const answered = new Set(events.flatMap(({ type, parent }) => (type === 'tool-answered' ? [parent] : [])))
    for (const event of events) {
      if (event.type === 'wrote') {
        const agent = this.#agent(event.agent)
        agent.turns++
        if (event.said?.as === 'plan' || event.said?.as === 'reflection') agent.as = event.said.as
      } else if (event.type === 'tool-called') {
        this.raise('tool calls')
        this.#agent(event.agent).calls++
        const tool = this.#tools.get(event.tool) ?? { tool: event.tool, calls: 0, unanswered: 0 }
        this.#tools.set(event.tool, tool)
        tool.calls++
        if (!answered.has(event.id)) tool.unanswered++
      }
    }
    this.addLeftOut((meta['leftOut'] ?? []) as unknown as LeftOut[], source)
  }

  addLeftOut(notes: readonly LeftOut[], source: readonly unknown[]): void {
    for (const { at, reason, text } of notes) {
      this.raise('characters left out', text.length)
      const what = at === '' ? reason : `${general(at)}: ${reason}`
      const isNew = reason === NOT_READ && !this.#leftOut.has(what)
      const rule = isNew ? renameRule(at, source) : undefined
      const finding = count(this.#leftOut, what, text.slice(0, LONGEST), rule)
      finding.characters = (finding.characters ?? 0) + text.length
    }
  }

  addToolLike(found: readonly ToolLike[]): void {
    for (const { kind, agent, example } of found) {
      this.raise('texts that look like tool output')
      count(this.#toolLike, kind, example, agent)
    }
  }

  summary(): ImportSummary {
    const byCount = <T extends { count: number }>(found: Map<string, T>): T[] =>
      [...found.values()].sort((one, other) => other.count - one.count)
    return {
      figures: this.#figures,
      formats: [...this.#formats.values()],
      agents: [...this.#agents.values()].sort((one, other) => other.turns - one.turns),
      tools: [...this.#tools.values()].sort((one, other) => other.calls - one.calls),
      unreadable: byCount(this.#unreadable),
      leftOut: byCount(this.#leftOut),
      toolLike: byCount(this.#toolLike).map(({ what, ...found }) => ({ kind: what, ...found })),
    }
  }

  #agent(name: string): ImportSummary['agents'][number] {
    const agent = this.#agents.get(name) ?? { agent: name, turns: 0, calls: 0, as: 'thought' }
    this.#agents.set(name, agent)
    return agent
  }
}

function count<T extends Finding>(found: Map<string, T>, what: string, example: string, rule?: string): T {
  const made = { what, count: 0, examples: [], ...(rule === undefined ? {} : { rule }) }
  const finding = found.get(what) ?? (made as unknown as T)
  found.set(what, finding)
  finding.count++
  if (finding.examples.length < EXAMPLES && !finding.examples.includes(example))
    finding.examples.push(example)
  return finding
}
