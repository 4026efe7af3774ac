import { fractionOf } from '../../base/random/index.ts'
import { percent } from '../../base/text/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import { isReact, type Selection, type Stream } from '../../schema/index.ts'
import { sequenceDigest } from '../../store/index.ts'
import { FunnelCounter, type Profile } from './count-funnel.ts'
import { type Criteria, decide, type StageName } from './decide.ts'
import { type Drop, type Examined, examine } from './examine.ts'
import type { Funnel } from './funnel.ts'
import { likeness } from './min-hash.ts'
import { findDuplicates } from './near-duplicates.ts'
import type { DroppedLine } from './selection-files.ts'
import { Signatures } from './signatures.ts'

/** Where decisions go. */
export interface Sink {
  keep(line: Omit<Selection, 'v'>): void
  drop(line: DroppedLine): void
}

/** A sequence that only its near-duplicates can still push out. */
interface Candidate extends Omit<Selection, 'v'> {
  profile: Profile
}

/**
 * Decides on one sequence after the other. With near-duplicates sought, the last word on those that passed everything
 * else is spoken at the end, so that it does not hang on the order they came in; some 1.4 kB are held for each.
 * Otherwise nothing is held.
 */
export class Sieve {
  readonly #criteria: Criteria
  readonly #grammars: ReadonlyMap<string, Grammar>
  readonly #sink: Sink | undefined
  readonly #counter = new FunnelCounter()
  readonly #candidates: Candidate[] = []
  readonly #signatures = new Signatures()

  constructor(criteria: Criteria, grammars: ReadonlyMap<string, Grammar>, sink: Sink | undefined) {
    this.#criteria = criteria
    this.#grammars = grammars
    this.#sink = sink
  }

  take(sequence: Stream): void {
    const { settings } = this.#criteria
    // What becomes of a ReAct-style sequence is decided by the one it was made from.
    if (isReact(sequence) || settings.skip_origins.includes(sequence.provenance?.origin ?? '')) {
      this.#counter.passedOver++
      return
    }
    const examined = examine(sequence, this.#grammars.get(sequence.grammar))
    const profile = this.#counter.enter(examined)
    const decision = decide(examined, this.#criteria)
    if ('dropped' in decision) this.#drop(sequence.id, decision.dropped)
    else this.#pass(examined, { id: sequence.id, ...decision, digest: sequenceDigest(sequence), profile })
  }

  /** Settles near-duplicates and returns what has been counted. */
  finish(): Omit<Funnel, 'fingerprint' | 'settings'> {
    const { duplicate_likeness } = this.#criteria.settings
    const keptInstead = findDuplicates(this.#signatures, this.#precedence(), duplicate_likeness)
    for (const [index, candidate] of this.#candidates.entries()) {
      const twin = keptInstead[index]!
      if (twin < 0) this.#keep(candidate)
      else this.#drop(candidate.id, { stage: 'near-duplicates', ...this.#likeTwin(index, twin) })
    }
    return this.#counter.result()
  }

  #pass(examined: Examined, candidate: Candidate): void {
    if (this.#criteria.settings.near_duplicates) {
      this.#signatures.add(examined)
      this.#candidates.push(candidate)
    } else this.#keep(candidate)
  }

  #keep({ id, weight, digest, profile }: Candidate): void {
    this.#counter.keep(profile, weight)
    this.#sink?.keep({ id, weight, digest })
  }

  #drop(id: string, dropped: Drop & { stage: StageName }): void {
    this.#counter.drop(id, dropped)
    this.#sink?.drop({ id, ...dropped })
  }

  /** Of those alike, the heaviest stays; among equals, chance drawn from the id decides. */
  #precedence(): Uint32Array {
    const { seed } = this.#criteria.settings
    const draws = Float64Array.from(this.#candidates, ({ id }) => fractionOf(seed, `precedence ${id}`))
    return Uint32Array.from(this.#candidates.keys()).sort((left, right) => {
      const [one, other] = [this.#candidates[left]!, this.#candidates[right]!]
      return other.weight - one.weight || draws[left]! - draws[right]! || (one.id < other.id ? -1 : 1)
    })
  }

  #likeTwin(index: number, twin: number): Drop {
    const share = likeness(this.#signatures.at(index), this.#signatures.at(twin))
    return {
      reason: 'near-duplicate',
      detail: `like ${this.#candidates[twin]!.id}, about ${percent(share, 0)}`,
    }
  }
}
