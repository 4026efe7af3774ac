import { z } from 'zod'
import type { Drop, Examined } from './examine.ts'
import { type StageName, stageNames } from './stage-names.ts'

const count = z.number().int().nonnegative()
/** Of all examined sequences, and of the kept ones. */
const both = { all: count, kept: count }

/** What the filters did, as stored in the run folder. */
export const Funnel = z.object({
  v: z.literal(1),
  /** Identifies input and settings, so that filtering is not repeated. */
  fingerprint: z.string(),
  settings: z.record(z.string(), z.json()),
  /** What the filter decided where a setting has no value, and why. Absent in earlier versions. */
  notes: z.array(z.string()).optional(),
  sequences: count,
  /** Skipped because of their origin. */
  passedOver: count,
  /** Of the examined ones, those whose answer was never checked, kept or not. Absent in earlier versions. */
  unchecked: count.optional(),
  kept: count,
  /** The kept ones, times their weights. */
  copies: count,
  upSampled: count,
  /** What the judge scored and what it could not, with the reason for the first of those. Absent without a judge. */
  judge: z.object({ scored: count, undecided: count, failure: z.string().optional() }).optional(),
  /** Retention is relative to all examined sequences. */
  stages: z.array(z.object({ name: z.enum(stageNames), before: count, after: count, retention: z.number() })),
  suites: z.array(z.object({ suite: z.string(), ...both })),
  interactions: z.array(z.object({ interactions: count, ...both })),
  tools: z.array(z.object({ tool: z.string(), calls: z.object(both), sequences: z.object(both) })),
  reasons: z.array(
    z.object({
      stage: z.enum(stageNames),
      reason: z.string(),
      count,
      examples: z.array(z.object({ id: z.string(), detail: z.string() })),
    }),
  ),
})
export type Funnel = z.infer<typeof Funnel>

const EXAMPLES = 3

/** What is counted per sequence; small, because it is held until near-duplicates are resolved. */
export interface Profile {
  suite: string
  interactions: number
  /** Calls by tool; shared between sequences with the same counts. */
  tools: ReadonlyMap<string, number>
}

/** Counts sequences as they come in and as they are kept or dropped. */
export class FunnelCounter {
  readonly #all = new Tally()
  readonly #kept = new Tally()
  readonly #reasons = new Map<string, Funnel['reasons'][number]>()
  readonly #toolSets = new Map<string, ReadonlyMap<string, number>>()
  passedOver = 0
  #unchecked = 0
  #copies = 0
  #upSampled = 0

  enter({ sequence, suite, interactions }: Examined): Profile {
    const calls = new Map<string, number>()
    for (const { kind, agent } of sequence.spans)
      if (kind === 'call') calls.set(agent, (calls.get(agent) ?? 0) + 1)
    let key = ''
    for (const [agent, times] of calls) key += `${agent}\0${times}\0`
    const tools = this.#toolSets.get(key) ?? calls
    this.#toolSets.set(key, tools)
    const profile = { suite, interactions, tools }
    this.#all.add(profile)
    if (sequence.verdict === undefined) this.#unchecked++
    return profile
  }

  drop(id: string, { stage, reason, detail }: Drop & { stage: StageName }): void {
    const key = `${stage}\0${reason}`
    const known = this.#reasons.get(key) ?? { stage, reason, count: 0, examples: [] }
    this.#reasons.set(key, known)
    known.count++
    if (known.examples.length < EXAMPLES) known.examples.push({ id, detail: detail.slice(0, 200) })
  }

  keep(profile: Profile, weight: number): void {
    this.#kept.add(profile)
    this.#copies += weight
    if (weight > 1) this.#upSampled++
  }

  result(): Omit<Funnel, 'fingerprint' | 'settings' | 'notes'> {
    const reasons = [...this.#reasons.values()].sort(
      (left, right) =>
        stageNames.indexOf(left.stage) - stageNames.indexOf(right.stage) || right.count - left.count,
    )
    const { sequences } = this.#all
    let after = sequences
    const stages = stageNames.map((name) => {
      const before = after
      for (const { stage, count } of reasons) if (stage === name) after -= count
      return { name, before, after, retention: sequences === 0 ? 0 : after / sequences }
    })
    return {
      v: 1,
      sequences,
      passedOver: this.passedOver,
      unchecked: this.#unchecked,
      kept: this.#kept.sequences,
      copies: this.#copies,
      upSampled: this.#upSampled,
      stages,
      suites: this.#compare('suites', (suite, counts) => ({ suite, ...counts })),
      interactions: this.#compare('interactions', (interactions, counts) => ({
        interactions,
        ...counts,
      })).sort((left, right) => left.interactions - right.interactions),
      tools: this.#compare('calls', (tool, calls) => ({
        tool,
        calls,
        sequences: { all: this.#all.users.get(tool) ?? 0, kept: this.#kept.users.get(tool) ?? 0 },
      })),
      reasons,
    }
  }

  /** One table of all and kept counts, most frequent first. */
  #compare<N extends 'suites' | 'interactions' | 'calls', T>(
    name: N,
    row: (key: KeyOf<N>, counts: { all: number; kept: number }) => T,
  ): T[] {
    const kept = this.#kept[name] as Map<KeyOf<N>, number>
    return [...(this.#all[name] as Map<KeyOf<N>, number>)]
      .sort(([, left], [, right]) => right - left)
      .map(([key, all]) => row(key, { all, kept: kept.get(key) ?? 0 }))
  }
}

type KeyOf<N extends 'suites' | 'interactions' | 'calls'> = N extends 'interactions' ? number : string

class Tally {
  sequences = 0
  readonly suites = new Map<string, number>()
  readonly interactions = new Map<number, number>()
  readonly calls = new Map<string, number>()
  /** Number of sequences that used a tool. */
  readonly users = new Map<string, number>()

  add({ suite, interactions, tools }: Profile): void {
    this.sequences++
    raise(this.suites, suite, 1)
    raise(this.interactions, interactions, 1)
    for (const [tool, times] of tools) {
      raise(this.calls, tool, times)
      raise(this.users, tool, 1)
    }
  }
}

function raise<K>(counts: Map<K, number>, key: K, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
