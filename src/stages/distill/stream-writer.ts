import type { Grammar } from '../../language/grammar/index.ts'
import { answerBody, callBody } from './bodies.ts'
import {
  type Draft,
  type DraftStep,
  joinPieces,
  type Omission,
  type Pending,
  type Piece,
  pendingOf,
} from './draft.ts'
import { RepetitionFilter } from './repetition.ts'
import {
  contributionsFor,
  type DistillMap,
  DROP,
  placementOf,
  SUGGESTED,
  sourcesFor,
  toolAgent,
} from './rules.ts'
import type { Call, Turn } from './turn.ts'

/** How much of the run is included. */
export interface Style {
  /** A thought may quote what a tool returned. */
  quotes: boolean
  /** Include thoughts in addition to what agents said; otherwise only if nothing was said. */
  thoughts: boolean
}

/** The content of a block, without its thought. */
interface BlockContent {
  agent: string
  pieces: Piece[]
}

/**
 * Writes a team's turns as one stream. Turns come in causal order, each with the text still pending from its causes;
 * what is returned stays pending. A block uses everything pending for it, so an effect never precedes its cause.
 */
export class StreamWriter {
  readonly #grammar: Grammar
  readonly #map: DistillMap
  readonly #style: Style
  readonly #repetition = new RepetitionFilter()
  #last: string | null = null
  /** distill.map dropped someone's reflection. */
  #droppedReflection = false
  readonly draft: Draft = {
    steps: [],
    omitted: [],
    folded: [],
    problems: [],
    answered: false,
    voice: new Map(),
  }

  constructor(grammar: Grammar, map: DistillMap, style: Style) {
    this.#grammar = grammar
    this.#map = map
    this.#style = style
  }

  write(turn: Turn, inherited: readonly Pending[]): Pending[] {
    const pending = inherited.filter((item) => !item.used)
    const place = placementOf(turn, this.#grammar, this.#map)
    const kept = place.kind === 'drop' ? this.#withoutText(turn) : turn
    if (kept.answer !== undefined) return this.#writeAnswer(kept, kept.answer, pending)
    if (kept.calls.length > 0) return this.#writeCalls(kept, pending)
    if (place.kind === 'block') return this.#writeBlock(kept, place.agents, pending)
    const thoughts = [...pending, ...pendingOf(kept.event, 'thought', kept.thought)]
    if (kept.as !== 'call') return [...thoughts, ...pendingOf(kept.event, kept.as ?? 'thought', kept.words)]
    this.omit(kept.event, 'words', 'a call that never returned')
    return thoughts
  }

  omit(event: string, part: Omission['part'], reason: string): void {
    this.draft.omitted.push({ event, part, reason })
  }

  #withoutText(turn: Turn): Turn {
    this.omit(turn.event, 'all', `${turn.agent} is dropped by distill.map`)
    if (turn.as === 'reflection') this.#droppedReflection = true
    return { ...turn, thought: '', words: '' }
  }

  #writeBlock(turn: Turn, agents: readonly string[], pending: Pending[]): Pending[] {
    const { event } = turn
    // Unstructured text becomes the block as a whole.
    const whole = turn.words.trim() === ''
    const written = (whole ? turn.thought : turn.words).trim()
    const text = this.#repetition.withoutQuotations(written)
    if (text === '' && written !== '') this.omit(event, whole ? 'thought' : 'words', QUOTED)
    const thought = whole ? '' : turn.thought
    const waits = this.#mayFollow(SUGGESTED) && pending.some(({ as }) => as === 'suggestion')
    const agent = text === '' ? undefined : agents.find((name) => this.#isAllowed(name, waits))
    if (agent === undefined)
      return [
        ...pending,
        ...pendingOf(event, 'thought', thought),
        ...pendingOf(event, turn.as ?? 'thought', text),
      ]
    const rest = waits ? this.#bridge(agent, pending) : pending
    if (turn.as !== undefined && turn.as !== 'plan' && turn.as !== contributionsFor(agent)[0])
      this.draft.folded.push({ event, from: turn.as, into: agent })
    return this.#writeWithThought({ agent, pieces: [{ event, text }] }, { event, thought }, rest)
  }

  /** A suggestion waits for its check: otherwise what comes between the two would have to be written before it. */
  #isAllowed(agent: string, suggestionWaits: boolean): boolean {
    return suggestionWaits
      ? this.#grammar.agents.get(SUGGESTED)!.next.includes(agent)
      : this.#mayFollow(agent)
  }

  #writeCalls(turn: Turn, pending: Pending[]): Pending[] {
    let rest = pending
    let { thought } = turn
    for (const call of turn.calls) {
      const name = toolAgent(call.tool, this.#grammar, this.#map)
      if (name === undefined || name === DROP) {
        this.omit(
          call.event,
          'call',
          name === DROP ? `${call.tool} is dropped by distill.map` : 'the grammar has no agent for it',
        )
        if (name === undefined)
          this.draft.problems.push(`the grammar has no agent for the tool "${call.tool}"`)
        continue
      }
      rest = this.#writeCall(name, call, { ...turn, thought }, rest)
      thought = ''
    }
    return [...rest, ...pendingOf(turn.event, 'thought', thought)]
  }

  #writeCall(name: string, call: Call, turn: Turn, pending: Pending[]): Pending[] {
    const { text, problems } = callBody(this.#grammar.agents.get(name)!, call.input)
    this.draft.problems.push(...problems)
    const rest = this.#bridge(name, pending)
    // A later call of the same turn comes after the first one's result, so it stands alone.
    const isFirst = call === turn.calls[0]
    // Text that only repeats the payload is not a thought.
    const spare = isFirst && turn.words.trim() !== text.trim() ? turn.words : ''
    this.#writeThought(name, turn, rest, spare)
    const source = isFirst ? [...new Set([turn.event, call.event])] : [call.event]
    this.#push({ agent: name, text, source })
    this.#push({
      agent: this.#grammar.observation!.name,
      text: call.output.text,
      source: [call.output.event],
    })
    return []
  }

  #writeAnswer(turn: Turn, answer: { event: string; text: string }, pending: Pending[]): Pending[] {
    const { answer: agent } = this.#grammar
    const { text, problems } = answerBody(agent, answer.text)
    this.draft.problems.push(...problems)
    // An unchecked suggestion that equals the answer would only repeat it, so it is written only where a thought is required.
    const repeats = ({ as, text }: Pending): boolean => as === 'suggestion' && text === answer.text.trim()
    const rest = this.#bridge(
      agent.name,
      pending.filter((item) => !repeats(item)),
    )
    const lacksThought = this.#needsThought(agent.name) && rest.length === 0 && turn.thought.trim() === ''
    for (const item of pending.filter(repeats)) {
      if (lacksThought && rest.length === 0) rest.push(item)
      else this.#discard(item, 'the answer says the same')
    }
    this.#writeThought(agent.name, turn, rest, '')
    this.#push({ agent: agent.name, text, source: [...new Set([turn.event, answer.event])] })
    this.draft.answered = true
    return []
  }

  /**
   * Writes pending contributions as blocks of their own if they belong before this agent, or if this agent may not
   * follow without one. Returns what is still pending.
   */
  #bridge(agent: string, pending: Pending[]): Pending[] {
    let rest = pending
    for (;;) {
      const shorter = this.#bridgeOnce(agent, rest)
      if (shorter === undefined) return rest
      rest = shorter
    }
  }

  #bridgeOnce(agent: string, pending: Pending[]): Pending[] | undefined {
    const { agents } = this.#grammar
    const needed = !this.#mayFollow(agent)
    for (const name of this.#successors()) {
      const between = agents.get(name)!
      if (between.kind !== 'role' || !between.next.includes(agent)) continue
      const wanted: readonly string[] = sourcesFor(name, this.#droppedReflection)
      const at = pending.findLastIndex(({ as }) => as === name || (needed && wanted.includes(as)))
      const item = pending[at]
      if (item === undefined) continue
      item.used = true
      const { event, as, text } = item
      if (as !== 'thought' && as !== name && as !== wanted[0])
        this.draft.folded.push({ event, from: as, into: name })
      const before = pending.slice(0, at)
      const kept = this.#writeWithThought(
        { agent: name, pieces: [{ event, text }] },
        { event, thought: '' },
        before,
      )
      return [...kept, ...pending.slice(at + 1)]
    }
    return undefined
  }

  /** Writes a block with its thought. Returns the thought if none may precede the block. */
  #writeWithThought(
    { agent, pieces }: BlockContent,
    turn: Pick<Turn, 'event' | 'thought'>,
    pending: Pending[],
  ): Pending[] {
    const introduced = this.#grammar.prelude?.before.has(agent) ?? false
    const contributions: readonly string[] = contributionsFor(agent)
    // Facts belong to the plan they were gathered for; the rest joins only if it cannot be a thought.
    const joins = ({ as }: Pending): boolean => contributions.includes(as) && (!introduced || as === 'facts')
    const joining = pending.filter(joins).flatMap((item) => this.#use(item, agent))
    const rest = pending.filter((item) => !joins(item))
    if (introduced) this.#writeThought(agent, turn, rest, '')
    else {
      // A thought of the same event may follow its block; an earlier one may not.
      const same = rest.filter((item) => item.event === turn.event)
      for (const item of rest)
        if (!same.includes(item)) this.#discard(item, `no thought may precede <${agent}>`)
      this.#push(joinPieces(agent, [...joining, ...pieces]))
      return [...same, ...pendingOf(turn.event, 'thought', turn.thought)]
    }
    this.#push(joinPieces(agent, [...joining, ...pieces]))
    return []
  }

  /** Writes everything pending and the agent's own thought as one thought, without repetitions. */
  #writeThought(
    agent: string,
    turn: Pick<Turn, 'event' | 'thought'>,
    pending: Pending[],
    spare: string,
  ): void {
    const { prelude } = this.#grammar
    const own = pendingOf(turn.event, 'thought', turn.thought)
    const all = [...pending, ...own]
    if (prelude === null || !prelude.before.has(agent)) {
      for (const item of all) this.#discard(item, `no thought may precede <${agent}>`)
      return
    }
    // Of a thought and the instruction that follows from it, only one is written.
    const instructions = this.#style.thoughts ? all.filter(({ as }) => as === 'task') : []
    const thoughts = this.#style.thoughts ? [] : all.filter(({ as }) => as === 'thought')
    const pieces = all
      .filter((item) => !instructions.includes(item) && !thoughts.includes(item))
      .flatMap((item) => this.#use(item, prelude.agent))
    if (pieces.length === 0 && prelude.required)
      pieces.push(...this.#fallbackThought(all, instructions, turn.event, spare))
    for (const item of thoughts) {
      item.used = true
      const used = pieces.some(({ event, text }) => event === item.event && text === item.text)
      if (!used) this.omit(item.event, 'thought', 'distill.thoughts is false')
    }
    for (const instruction of instructions) {
      instruction.used = true
      const used = pieces.some(
        ({ event, text }) => event === instruction.event && instruction.text.includes(text),
      )
      if (!used)
        this.omit(instruction.event, 'words', 'an instruction; the step that followed it says the rest')
    }
    if (pieces.length > 0) this.#push(joinPieces(prelude.agent, pieces))
  }

  /**
   * Used when the grammar requires a thought and no pending thought is new: the instruction that led here, else the
   * latest thought again. Nothing is invented.
   */
  #fallbackThought(all: Pending[], instructions: Pending[], event: string, spare: string): Piece[] {
    const words = [...instructions, ...pendingOf(event, 'call', spare)]
    const unsaid = words.flatMap((item) => {
      const text = this.#repetition.newPart(item.text)
      return text === '' ? [] : [{ ...item, text }]
    })
    const found = unsaid[0] ?? all.findLast(({ as }) => as === 'thought') ?? all.at(-1) ?? words[0]
    if (found === undefined) return []
    const { as, text } = found
    const { omitted, folded } = this.draft
    const at = omitted.findLastIndex((note) => note.event === found.event && note.reason === REPEATED)
    if (at !== -1) omitted.splice(at, 1)
    if (as !== 'thought') folded.push({ event: found.event, from: as, into: this.#grammar.prelude!.agent })
    this.#repetition.add(text)
    return [{ event: found.event, text }]
  }

  /** The new part of pending text; nothing if all of it is a repetition. */
  #use(item: Pending, into: string): Piece[] {
    item.used = true
    const text = this.#repetition.addNew(item.text)
    if (text === '') {
      this.omit(item.event, partOf(item), REPEATED)
      return []
    }
    if (item.as !== 'thought' && item.as !== 'report' && item.as !== 'facts')
      this.draft.folded.push({ event: item.event, from: item.as, into })
    return [{ event: item.event, text }]
  }

  #discard(item: Pending, reason: string): void {
    item.used = true
    this.omit(item.event, partOf(item), reason)
  }

  #push(step: DraftStep): void {
    const { agents, prelude } = this.#grammar
    this.draft.steps.push(step)
    // The pieces of a thought were added one by one.
    if (step.agent === prelude?.agent) return
    const isObservation = agents.get(step.agent)!.kind === 'observation'
    if (!isObservation) this.#repetition.add(step.text)
    else if (!this.#style.quotes) this.#repetition.addOutput(step.text)
    if (!isObservation) this.#last = step.agent
  }

  #successors(): readonly string[] {
    return this.#last === null ? this.#grammar.start : this.#grammar.agents.get(this.#last)!.next
  }

  #needsThought(agent: string): boolean {
    const { prelude } = this.#grammar
    return prelude?.required === true && prelude.before.has(agent)
  }

  /** By the grammar's order, ignoring the thought before it. */
  #mayFollow(agent: string): boolean {
    return this.#successors().includes(agent)
  }
}

const REPEATED = 'a verbatim repetition'
const QUOTED = 'it only quotes what a tool returned'

function partOf({ as }: Pending): 'thought' | 'words' {
  return as === 'thought' ? 'thought' : 'words'
}
