import { GrammarError } from '../../base/errors/index.ts'
import type { SampleRequest } from '../../engine/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import type { ChainPlaces } from './chain-places.ts'
import type { Position } from './follow.ts'
import type { Masks } from './masks.ts'
import type { Place } from './place.ts'
import { symbolOf } from './symbols.ts'

interface Rules {
  grammar: Grammar
  places: ChainPlaces
  masks: Masks
}

/** A position in one stream. Immutable, so that several samples can continue from it. */
export class ConstraintState {
  readonly #rules: Rules
  readonly #position: Position

  constructor(rules: Rules, position: Position) {
    this.#rules = rules
    this.#position = position
  }

  /** The answer is complete: only an end token may follow. */
  get ended(): boolean {
    return this.#position.place.ended
  }

  /** A call is complete: nothing may be sampled until its observation has been inserted. */
  get awaitsObservation(): boolean {
    return this.#position.place.called !== null
  }

  /** One entry per token of the vocabulary, 1 if it may follow. Cached and shared: do not modify. */
  allowed(): Uint8Array {
    return this.#rules.masks.at(this.#position)
  }

  /** The state after a sampled token. An end token does not change it. */
  after(token: number): ConstraintState {
    const { masks } = this.#rules
    if (this.ended && masks.isEnd(token)) return this
    const reached = masks.after(this.#position, token)
    if (reached !== undefined) return new ConstraintState(this.#rules, reached)
    throw new GrammarError(`Token ${token} is not allowed at this position.`, {
      fix: 'Sample with the mask of the same state; pass other text to `inserted`.',
      details: { token, place: this.#position.place.key },
    })
  }

  /**
   * The state after text that was not sampled: an observation in its tags with white space around it, or anything
   * else valid here.
   */
  inserted(text: string): ConstraintState {
    if (text === '') return this
    const { places } = this.#rules
    let place: Place | null = this.#position.place
    // Bytes of an incomplete character decode to one replacement character.
    if (this.#position.begun.length > 0) place = place.step(symbolOf(0xfffd))
    let rest = text
    if (place?.called) {
      rest = this.#afterObservation(text)
      place = places.observed(place)
    }
    for (const character of rest) place = place?.step(symbolOf(character.codePointAt(0)!)) ?? null
    if (place !== null) return new ConstraintState(this.#rules, { place, begun: [] })
    throw new GrammarError('The inserted text is not allowed at this position.', {
      fix: 'Insert complete observations after calls, and elsewhere only what the grammar allows.',
      details: { text: rest.slice(0, 200), place: this.#position.place.key },
    })
  }

  /** For `SampleRequest.allowed` of a request whose prompt ends at this state. */
  forRequest(): NonNullable<SampleRequest['allowed']> {
    const reached = new Map<number, { length: number; state: ConstraintState }>()
    return (tokens, sample) => {
      const last = reached.get(sample)
      const known = last !== undefined && last.length <= tokens.length ? last : { length: 0, state: this }
      let { state } = known
      for (let at = known.length; at < tokens.length; at++) state = state.after(tokens[at]!)
      reached.set(sample, { length: tokens.length, state })
      return state.allowed()
    }
  }

  /** The text after the observation and its white space. */
  #afterObservation(text: string): string {
    const { tag } = this.#rules.grammar.observation!
    const [opening, closing] = [`<${tag}>`, `</${tag}>`]
    const start = text.trimStart()
    const end = start.startsWith(opening) ? start.indexOf(closing, opening.length) : -1
    if (end !== -1) return start.slice(end + closing.length).trimStart()
    throw new GrammarError(`A call must be followed by its observation, but this text has no <${tag}>.`, {
      fix: 'Insert the observation as `renderSpans` writes it.',
      details: { text: text.slice(0, 200) },
    })
  }
}
