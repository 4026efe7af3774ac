import { type Agent, Automaton, type Grammar } from '../../language/grammar/index.ts'
import type { Body } from './body.ts'
import { type PayloadBody, payloadBody } from './payload-body.ts'
import { Place } from './place.ts'

/** Maximum number of cached states. With nested JSON their number is unbounded. */
const MOST_PLACES = 8_192

const [LESS, GREATER] = [60, 62]

/**
 * All states of a grammar's streams. Between blocks there is one line break and then the tag of an agent that may
 * speak; inside a block there is text in its payload's syntax, without any tag of the grammar but its own closing
 * one.
 */
export class ChainPlaces {
  readonly #grammar: Grammar
  readonly #payloads: ReadonlyMap<string, PayloadBody>
  /** Every tag of the grammar in lower case, with `<` and with `</`, without `>`. */
  readonly #tags: readonly string[]
  readonly #known = new Map<string, Place>()
  readonly start: Place

  constructor(grammar: Grammar) {
    this.#grammar = grammar
    this.#payloads = new Map(
      [...grammar.agents.values()].map((agent) => [agent.name, payloadBody(grammar, agent)]),
    )
    this.#tags = [...grammar.byTag.keys()].flatMap((tag) => [`<${tag}`, `</${tag}`])
    this.start = this.#gap([], '', '')
  }

  /** Characters without which some state would be a dead end. */
  get alphabet(): string {
    const tags = [...this.#grammar.agents.values()].map(({ tag }) => tag)
    return ['\n</>', ...tags, ...[...this.#payloads.values()].map(({ alphabet }) => alphabet)].join('')
  }

  /** Parts of payload schemas that are not enforced. */
  get unchecked(): string[] {
    return [...this.#payloads.values()].flatMap(({ unchecked }) => unchecked)
  }

  /** The state after the observation of a call. */
  observed(place: Place): Place {
    return this.#gap([...place.called!, this.#grammar.observation!.name], '', '')
  }

  #place(key: string, make: () => Place): Place {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#known.size >= MOST_PLACES) this.#known.clear()
    const place = make()
    this.#known.set(key, place)
    return place
  }

  /**
   * Between blocks. `spoken` is as much of the previous speakers as the order depends on: the last actor, and the
   * observation and the prelude after it. `lead` is the required white space, `read` what there is of it and of the
   * tag.
   */
  #gap(spoken: readonly string[], lead: string, read: string): Place {
    return this.#place(`gap ${spoken.join(' ')}|${lead}|${read}`, () => {
      const openings = this.#mayFollow(spoken).map((agent) => ({ agent, text: `${lead}<${agent.tag}>` }))
      const next = (symbol: number): Place | undefined => {
        const longer = read + String.fromCharCode(symbol)
        const opening = openings.find(({ text }) => text.startsWith(longer))
        if (opening?.text !== longer) return opening && this.#gap(spoken, lead, longer)
        return this.#open(opening.agent, spoken)
      }
      return new Place(`gap ${spoken.join(' ')}|${lead}|${read}`, next)
    })
  }

  #mayFollow(spoken: readonly string[]): Agent[] {
    const automaton = new Automaton(this.#grammar)
    for (const name of spoken) automaton.step(name)
    return automaton.allowed().map((name) => this.#grammar.agents.get(name)!)
  }

  #open(agent: Agent, before: readonly string[]): Place {
    // After a prelude the previous speaker matters; otherwise it does not, so that blocks share states.
    const spoken = agent.name === this.#grammar.prelude?.agent ? [...before, agent.name] : [agent.name]
    return this.#block(agent, spoken, this.#payloads.get(agent.name)!.start, '')
  }

  /**
   * Inside a block. `held` is a possible start of a tag; `body` is the state before it, which decides whether a
   * closing tag is valid, and `plain` the state if it is text after all.
   */
  #block(agent: Agent, spoken: readonly string[], body: Body, held: string, plain?: Body): Place {
    const key = `block ${spoken.join(' ')}|${held}|${body.key}`
    return this.#place(key, () => {
      const inside = (to: Body, holding: string, text?: Body): Place =>
        this.#block(agent, spoken, to, holding, text)
      const closing = `</${agent.tag}>`
      const next = (symbol: number): Place | undefined => {
        const text = held === '' ? body : plain
        if (symbol === LESS) {
          const reads = text?.step(symbol)
          return reads !== undefined || text?.closable ? inside(text!, '<', reads) : undefined
        }
        const reads = text?.step(symbol)
        // Most text does not change the state, and this shortcut makes new masks fast.
        if (held === '') return reads === body ? place : reads && inside(reads, '')
        const longer = held + String.fromCharCode(symbol)
        if (symbol === GREATER && this.#tags.includes(held.toLowerCase()))
          return longer === closing && body.closable ? this.#closed(agent, spoken) : undefined
        if (!this.#tags.some((tag) => tag.startsWith(longer.toLowerCase()))) return reads && inside(reads, '')
        const closes = body.closable && closing.startsWith(longer)
        return closes || reads !== undefined ? inside(body, longer, reads) : undefined
      }
      const place = new Place(key, next, { wide: (held === '' ? body : plain)?.wide ?? false })
      return place
    })
  }

  #closed({ kind }: Agent, spoken: readonly string[]): Place {
    if (kind === 'role') return this.#gap(spoken, '\n', '')
    const key = `closed ${spoken.join(' ')}`
    const what = kind === 'answer' ? { ended: true } : { called: spoken }
    return this.#place(key, () => new Place(key, () => undefined, what))
  }
}
