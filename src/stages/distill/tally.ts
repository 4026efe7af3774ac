import { LATER_MESSAGE } from './later-messages.ts'
import { LEFT } from './voice.ts'

export interface DistillSummary {
  figures: Record<string, number>
  /** How often each kind of problem occurred, most frequent first. */
  problems: { problem: string; count: number; example: string }[]
  /** How often each voice rule changed something, most frequent first, and some of it; the sum is in the figures. */
  voice: { rule: string; count: number; examples: string[] }[]
  /** Text that would be trained on and looks like tool output, most frequent first. */
  toolLike: { kind: string; count: number; examples: string[] }[]
}

/** What is counted of a sequence. */
interface Counted {
  id: string
  meta: Readonly<Record<string, unknown>>
  provenance?: { sawGold: boolean } | undefined
}

interface Found {
  count: number
  examples: string[]
}

const EXAMPLES = 3

/** Counts what a stage makes, and what is worth knowing about it. */
export class Tally {
  readonly figures: Record<string, number> = {
    sequences: 0,
    'already distilled': 0,
    'within the grammar': 0,
    'with problems': 0,
    unanswered: 0,
    'saw the gold answer': 0,
    failed: 0,
  }
  readonly #problems = new Map<string, { count: number; example: string }>()
  readonly #voice = new Map<string, Found>()
  readonly #toolLike = new Map<string, Found>()

  add(sequence: Counted): void {
    const { id, meta, provenance } = sequence
    const problems = Array.isArray(meta['problems']) ? meta['problems'].map(String) : []
    this.figures['sequences']!++
    this.figures[problems.length === 0 ? 'within the grammar' : 'with problems']!++
    if (meta['unanswered'] === true) this.figures['unanswered']!++
    if (provenance?.sawGold === true) this.figures['saw the gold answer']!++
    for (const problem of new Set(problems.map(kindOf))) this.#count(problem, id)
    const examples = Object(meta['voiceExamples']) as Record<string, string[]>
    for (const [rule, count] of countsOf(meta['voice'])) {
      find(this.#voice, rule, count, examples[rule] ?? [])
      this.#raise(rule === LEFT ? 'voice matches left alone' : 'voice changes', count)
    }
    const later = notesOf(meta['leftOut']).filter(({ reason }) => reason === LATER_MESSAGE)
    if (later.length > 0) this.#raise('later messages from users', later.length)
    if (Array.isArray(meta['smoothed'])) this.#raise('smoothed blocks', meta['smoothed'].length)
    for (const [reason, count] of countsOf(meta['smoothingRejected'])) {
      this.#raise('smoothing rejected', count)
      this.#count(`smoothing rejected: ${reason}`, id)
    }
    this.#addToolLike(sequence)
  }

  /** A rollout that was marked good. */
  addMarked(sequence: Counted): void {
    this.add(sequence)
    this.#raise('from marked rollouts', 1)
  }

  addReact(id: string, made: object | string): void {
    if (typeof made === 'string') this.#count(`no ReAct-style sequence: ${made}`, id)
    else this.#raise('ReAct-style', 1)
  }

  fail(id: string, message: string): void {
    this.figures['failed']!++
    this.#count(message, id)
  }

  /** A sequence that is not written because of text that looks like tool output. */
  refuse(sequence: Counted): void {
    this.#raise('refused', 1)
    this.#addToolLike(sequence)
  }

  #addToolLike({ meta }: Counted): void {
    for (const { kind, example } of notesOf(meta['toolLike'])) {
      this.#raise('texts that look like tool output', 1)
      find(this.#toolLike, kind!, 1, [example!])
    }
  }

  /** Figures that are shown only where there is something to count. */
  #raise(figure: string, by: number): void {
    this.figures[figure] = (this.figures[figure] ?? 0) + by
  }

  #count(problem: string, example: string): void {
    const known = this.#problems.get(problem)
    if (known === undefined) this.#problems.set(problem, { count: 1, example })
    else known.count++
  }

  summary(): DistillSummary {
    const problems = [...this.#problems].map(([problem, found]) => ({ problem, ...found }))
    const voice = [...this.#voice].map(([rule, found]) => ({ rule, ...found }))
    const toolLike = [...this.#toolLike].map(([kind, found]) => ({ kind, ...found }))
    return {
      figures: this.figures,
      problems: problems.sort(byCount),
      voice: voice.sort(byCount),
      toolLike: toolLike.sort(byCount),
    }
  }
}

const byCount = (left: { count: number }, right: { count: number }): number => right.count - left.count

function find(known: Map<string, Found>, what: string, count: number, examples: readonly string[]): void {
  const found = known.get(what) ?? { count: 0, examples: [] }
  known.set(what, found)
  found.count += count
  found.examples = [...new Set([...found.examples, ...examples])].slice(0, EXAMPLES)
}

/** Counts by name, as they are stored in the metadata of a sequence. */
function countsOf(value: unknown): [string, number][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
}

const notesOf = (value: unknown): Record<string, string>[] => (Array.isArray(value) ? value : [])

/** The same problem at another turn counts as the same problem. */
function kindOf(problem: string): string {
  return problem.replace(/^turn \d+: /, '')
}
