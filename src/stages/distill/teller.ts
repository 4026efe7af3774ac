import type { Grammar } from '../../language/grammar/index.ts'
import { answerBody, callBody } from './bodies.ts'
import { type Carried, carry, type Left } from './carried.ts'
import { type Draft, type DraftStep, joined, type Piece } from './draft.ts'
import { type DistillMap, DROP, makingsOf, placeOf, SUGGESTED, toolAgent } from './rules.ts'
import { SaidBefore } from './said-before.ts'
import type { Call, Turn } from './turn.ts'

/** How much is told. */
export interface Style {
  /** A thought may quote what a tool returned. */
  quotes: boolean
  /** What agents thought is told beside what they said; else only where nobody said anything. */
  thoughts: boolean
}

/** What a block is made of besides its thought. */
interface Words {
  agent: string
  pieces: Piece[]
}

/**
 * Tells turns in one voice. Turns come in causal order, each with what was carried to it from those before; what comes
 * back is carried on. A block takes everything that was carried to it, so nothing is told behind what came from it.
 */
export class Teller {
  readonly #grammar: Grammar
  readonly #map: DistillMap
  readonly #style: Style
  readonly #said = new SaidBefore()
  #last: string | null = null
  readonly draft: Draft = { steps: [], left: [], folded: [], problems: [], answered: false }

  constructor(grammar: Grammar, map: DistillMap, style: Style) {
    this.#grammar = grammar
    this.#map = map
    this.#style = style
  }

  tell(turn: Turn, carriedTo: readonly Carried[]): Carried[] {
    const carried = carriedTo.filter((item) => !item.taken)
    const place = placeOf(turn, this.#grammar, this.#map)
    const told = place.kind === 'drop' ? this.#silenced(turn) : turn
    if (told.answer !== undefined) return this.#tellAnswer(told, told.answer, carried)
    if (told.calls.length > 0) return this.#tellCalls(told, carried)
    if (place.kind === 'block') return this.#tellBlock(told, place.agents, carried)
    const thoughts = [...carried, ...carry(told.event, 'thought', told.thought)]
    if (told.as !== 'call') return [...thoughts, ...carry(told.event, told.as ?? 'thought', told.words)]
    this.leave(told.event, 'words', 'a call that never came back')
    return thoughts
  }

  leave(event: string, part: Left['part'], reason: string): void {
    this.draft.left.push({ event, part, reason })
  }

  #silenced(turn: Turn): Turn {
    this.leave(turn.event, 'all', `${turn.agent} is left out by the map`)
    return { ...turn, thought: '', words: '' }
  }

  #tellBlock(turn: Turn, agents: readonly string[], carried: Carried[]): Carried[] {
    const { event } = turn
    // Text that nobody took apart becomes the block as a whole.
    const whole = turn.words.trim() === ''
    const text = (whole ? turn.thought : turn.words).trim()
    const thought = whole ? '' : turn.thought
    const waits = this.#mayFollow(SUGGESTED) && carried.some(({ as }) => as === 'suggestion')
    const agent = text === '' ? undefined : agents.find((name) => this.#finds(name, waits))
    if (agent === undefined)
      return [...carried, ...carry(event, 'thought', thought), ...carry(event, turn.as ?? 'thought', text)]
    const rest = waits ? this.#bridge(agent, carried) : carried
    if (turn.as !== undefined && turn.as !== 'plan' && turn.as !== makingsOf(agent)[0])
      this.draft.folded.push({ event, from: turn.as, into: agent })
    return this.#speak({ agent, pieces: [{ event, text }] }, { event, thought }, rest)
  }

  /** A suggestion waits for its check: what comes between the two would otherwise have to be told before it. */
  #finds(agent: string, suggestionWaits: boolean): boolean {
    return suggestionWaits
      ? this.#grammar.agents.get(SUGGESTED)!.next.includes(agent)
      : this.#mayFollow(agent)
  }

  #tellCalls(turn: Turn, carried: Carried[]): Carried[] {
    let rest = carried
    let { thought } = turn
    for (const call of turn.calls) {
      const name = toolAgent(call.tool, this.#grammar, this.#map)
      if (name === undefined || name === DROP) {
        this.leave(
          call.event,
          'call',
          name === DROP ? `${call.tool} is left out by the map` : 'no agent of the grammar',
        )
        if (name === undefined)
          this.draft.problems.push(`the grammar has no agent for the tool "${call.tool}"`)
        continue
      }
      rest = this.#tellCall(name, call, { ...turn, thought }, rest)
      thought = ''
    }
    return [...rest, ...carry(turn.event, 'thought', thought)]
  }

  #tellCall(name: string, call: Call, turn: Turn, carried: Carried[]): Carried[] {
    const { text, problems } = callBody(this.#grammar.agents.get(name)!, call.input)
    this.draft.problems.push(...problems)
    const rest = this.#bridge(name, carried)
    // A later call of the same turn comes after what the first returned: it stands for itself.
    const isFirst = call === turn.calls[0]
    // Words of a call that are the payload once more are no thought.
    const spare = isFirst && turn.words.trim() !== text.trim() ? turn.words : ''
    this.#think(name, turn, rest, spare)
    const source = isFirst ? [...new Set([turn.event, call.event])] : [call.event]
    this.#push({ agent: name, text, source })
    this.#push({
      agent: this.#grammar.observation!.name,
      text: call.output.text,
      source: [call.output.event],
    })
    return []
  }

  #tellAnswer(turn: Turn, answer: { event: string; text: string }, carried: Carried[]): Carried[] {
    const { answer: agent } = this.#grammar
    const { text, problems } = answerBody(agent, answer.text)
    this.draft.problems.push(...problems)
    for (const item of carried) {
      // A suggestion that nobody checked and that is the answer would only be the answer twice.
      if (item.as !== 'suggestion' || item.text !== answer.text.trim()) continue
      item.taken = true
      this.leave(item.event, 'words', 'the answer says the same')
    }
    const rest = this.#bridge(
      agent.name,
      carried.filter((item) => !item.taken),
    )
    this.#think(agent.name, turn, rest, '')
    this.#push({ agent: agent.name, text, source: [...new Set([turn.event, answer.event])] })
    this.draft.answered = true
    return []
  }

  /**
   * Gives waiting contributions their own blocks where they belong before this agent, or where this agent may not speak
   * without one. Returns what is still to be told.
   */
  #bridge(agent: string, carried: Carried[]): Carried[] {
    let rest = carried
    for (;;) {
      const shorter = this.#bridgeOnce(agent, rest)
      if (shorter === undefined) return rest
      rest = shorter
    }
  }

  #bridgeOnce(agent: string, carried: Carried[]): Carried[] | undefined {
    const { agents } = this.#grammar
    const needed = !this.#mayFollow(agent)
    for (const name of this.#successors()) {
      const between = agents.get(name)!
      if (between.kind !== 'role' || !between.next.includes(agent)) continue
      const wanted: readonly string[] = makingsOf(name)
      const at = carried.findLastIndex(({ as }) => as === name || (needed && wanted.includes(as)))
      const item = carried[at]
      if (item === undefined) continue
      item.taken = true
      const { event, as, text } = item
      if (as !== 'thought' && as !== name && as !== wanted[0])
        this.draft.folded.push({ event, from: as, into: name })
      const before = carried.slice(0, at)
      const kept = this.#speak({ agent: name, pieces: [{ event, text }] }, { event, thought: '' }, before)
      return [...kept, ...carried.slice(at + 1)]
    }
    return undefined
  }

  /** A block with its thought. Gives back the thought where none may stand before the block. */
  #speak({ agent, pieces }: Words, turn: Pick<Turn, 'event' | 'thought'>, carried: Carried[]): Carried[] {
    const introduced = this.#grammar.prelude?.before.has(agent) ?? false
    const makings: readonly string[] = makingsOf(agent)
    // Facts belong to the plan they were gathered for; the rest joins only where it cannot be a thought.
    const joins = ({ as }: Carried): boolean => makings.includes(as) && (!introduced || as === 'facts')
    const joining = carried.filter(joins).flatMap((item) => this.#take(item, agent))
    const rest = carried.filter((item) => !joins(item))
    if (introduced) this.#think(agent, turn, rest, '')
    else {
      // A thought of the same event may come behind its words, an earlier one may not.
      const same = rest.filter((item) => item.event === turn.event)
      for (const item of rest)
        if (!same.includes(item)) this.#give(item, `no thought may stand before <${agent}>`)
      this.#push(joined(agent, [...joining, ...pieces]))
      return [...same, ...carry(turn.event, 'thought', turn.thought)]
    }
    this.#push(joined(agent, [...joining, ...pieces]))
    return []
  }

  /** Everything that was carried here and the agent's own thought, each said once, as one thought. */
  #think(agent: string, turn: Pick<Turn, 'event' | 'thought'>, carried: Carried[], spare: string): void {
    const { prelude } = this.#grammar
    const own = carry(turn.event, 'thought', turn.thought)
    const all = [...carried, ...own]
    if (prelude === null || !prelude.before.has(agent)) {
      for (const item of all) this.#give(item, `no thought may stand before <${agent}>`)
      return
    }
    // Of a thought and the order that came of it, one is told.
    const orders = this.#style.thoughts ? all.filter(({ as }) => as === 'task') : []
    const thoughts = this.#style.thoughts ? [] : all.filter(({ as }) => as === 'thought')
    const pieces = all
      .filter((item) => !orders.includes(item) && !thoughts.includes(item))
      .flatMap((item) => this.#take(item, prelude.agent))
    if (pieces.length === 0 && prelude.required)
      pieces.push(...this.#anyThought(all, orders, turn.event, spare))
    for (const item of thoughts) {
      item.taken = true
      const used = pieces.some(({ event, text }) => event === item.event && text === item.text)
      if (!used) this.leave(item.event, 'thought', 'thoughts are left out by the settings')
    }
    for (const order of orders) {
      order.taken = true
      const used = pieces.some(({ event, text }) => event === order.event && order.text.includes(text))
      if (!used) this.leave(order.event, 'words', 'an order; the step that followed it says the rest')
    }
    if (pieces.length > 0) this.#push(joined(prelude.agent, pieces))
  }

  /**
   * Where the grammar wants a thought and no thought says anything new: the order that led here, else the latest thought
   * once more. Nothing is made up.
   */
  #anyThought(all: Carried[], orders: Carried[], event: string, spare: string): Piece[] {
    const words = [...orders, ...carry(event, 'call', spare)]
    const unsaid = words.flatMap((item) => {
      const text = this.#said.fresh(item.text)
      return text === '' ? [] : [{ ...item, text }]
    })
    const found = unsaid[0] ?? all.findLast(({ as }) => as === 'thought') ?? all.at(-1) ?? words[0]
    if (found === undefined) return []
    const { as, text } = found
    const { left, folded } = this.draft
    const at = left.findLastIndex((note) => note.event === found.event && note.reason === REPEATED)
    if (at !== -1) left.splice(at, 1)
    if (as !== 'thought') folded.push({ event: found.event, from: as, into: this.#grammar.prelude!.agent })
    this.#said.add(text)
    return [{ event: found.event, text }]
  }

  /** The new part of what was carried; nothing where all of it was said before. */
  #take(item: Carried, into: string): Piece[] {
    item.taken = true
    const text = this.#said.sayNew(item.text)
    if (text === '') {
      this.leave(item.event, partOf(item), REPEATED)
      return []
    }
    if (item.as !== 'thought' && item.as !== 'report' && item.as !== 'facts')
      this.draft.folded.push({ event: item.event, from: item.as, into })
    return [{ event: item.event, text }]
  }

  #give(item: Carried, reason: string): void {
    item.taken = true
    this.leave(item.event, partOf(item), reason)
  }

  #push(step: DraftStep): void {
    const { agents, prelude } = this.#grammar
    this.draft.steps.push(step)
    // The pieces of a thought were noted one by one.
    if (step.agent === prelude?.agent) return
    const isObservation = agents.get(step.agent)!.kind === 'observation'
    if (!isObservation || !this.#style.quotes) this.#said.add(step.text)
    if (!isObservation) this.#last = step.agent
  }

  #successors(): readonly string[] {
    return this.#last === null ? this.#grammar.start : this.#grammar.agents.get(this.#last)!.next
  }

  /** By the grammar's order, the thought before it left aside. */
  #mayFollow(agent: string): boolean {
    return this.#successors().includes(agent)
  }
}

const REPEATED = 'said before, word for word'

function partOf({ as }: Carried): 'thought' | 'words' {
  return as === 'thought' ? 'thought' : 'words'
}
