import { fractionOf } from '../../base/random/index.ts'
import { percent } from '../../base/text/index.ts'
import type { Grammar } from '../../language/grammar/index.ts'
import { type Selection, type Stream, streamText } from '../../schema/index.ts'
import { sequenceDigest } from '../../store/index.ts'
import { type Criteria, type Decision, decide } from './decide.ts'
import { type Drop, type Examined, examine, isSkipped } from './examine.ts'
import { type Funnel, FunnelCounter, type Profile } from './funnel.ts'
import type { SequenceJudge } from './judge.ts'
import { asMarked, leniently, markedBad } from './marks.ts'
import { Signatures, similarity } from './min-hash.ts'
import { findDuplicates } from './near-duplicates.ts'
import type { DroppedLine } from './selection-files.ts'
import type { StageName } from './stage-names.ts'

/** Receives the decisions. */
export interface Sink {
  keep(line: Omit<Selection, 'v'>): void
  drop(line: DroppedLine): void
}

/** A sequence that can only be dropped in favor of another one. */
interface Candidate extends Omit<Selection, 'v'> {
  profile: Profile
  task: string
  score: number
  characters: number
  isMarkedGood: boolean
}

/**
 * Applies the filters to some sequences after others. With near-duplicate detection or a number per task, the final decision on
 * those that passed everything else is made at the end, so that it does not depend on their order; about 1.4 kB are held
 * for each, or a few hundred bytes without the former. Otherwise nothing is held.
 */
export class FilterChain {
  readonly #criteria: Criteria
  readonly #grammars: ReadonlyMap<string, Grammar>
  readonly #sink: Sink | undefined
  readonly #counter = new FunnelCounter()
  readonly #candidates: Candidate[] = []
  readonly #signatures = new Signatures()

  readonly #judge: SequenceJudge | undefined

  constructor(
    criteria: Criteria,
    grammars: ReadonlyMap<string, Grammar>,
    sink: Sink | undefined,
    judge?: SequenceJudge,
  ) {
    this.#criteria = criteria
    this.#grammars = grammars
    this.#sink = sink
    this.#judge = judge
  }

  /** Decides on some sequences, in order. The judge is asked about all of them at the same time. */
  async add(sequences: readonly Stream[], signal: AbortSignal): Promise<void> {
    const entered = sequences.flatMap((sequence) => this.#enter(sequence) ?? [])
    const decisions = await Promise.all(entered.map(({ examined }) => this.#decide(examined, signal)))
    for (const [index, { examined, profile }] of entered.entries()) {
      const { sequence } = examined
      const decision = decisions[index]!
      if ('dropped' in decision) this.#drop(sequence.id, decision.dropped)
      else
        this.#pass(examined, {
          ...candidateOf(examined, decision, profile),
          isMarkedGood: this.#isGood(sequence),
        })
    }
  }

  #enter(sequence: Stream): { examined: Examined; profile: Profile } | undefined {
    if (isSkipped(sequence, this.#criteria.given)) {
      this.#counter.passedOver++
      return undefined
    }
    const examined = examine(sequence, this.#grammars.get(sequence.grammar))
    return { examined, profile: this.#counter.enter(examined) }
  }

  async #decide(examined: Examined, signal: AbortSignal): Promise<Decision> {
    const { sequence } = examined
    const mark = this.#criteria.markOf(sequence.id)
    const bad = markedBad(mark)
    if (bad !== undefined) return { dropped: { stage: 'marks', ...bad } }
    if (mark?.rating === 'good')
      return decide(
        { ...examined, sequence: asMarked(sequence, mark) },
        { ...this.#criteria, settingsFor: (grammar) => leniently(this.#criteria.settingsFor(grammar)) },
      )
    const decision = decide(examined, this.#criteria)
    if ('dropped' in decision || this.#judge === undefined) return decision
    const { drop, score } = await this.#judge.decide(examined, signal)
    if (drop !== undefined) return { dropped: { stage: 'judge', ...drop } }
    return score === undefined ? decision : { ...decision, score }
  }

  /** Resolves near-duplicates and the number per task, and returns the counts. */
  finish(): Omit<Funnel, 'fingerprint' | 'settings' | 'notes'> {
    const { duplicate_likeness, near_duplicates, per_task, seed } = this.#criteria.given
    const keptInstead = near_duplicates
      ? findDuplicates(this.#signatures, this.#precedence(), duplicate_likeness)
      : undefined
    const different = this.#candidates.filter((_, index) => (keptInstead?.[index] ?? -1) < 0)
    const preferred = per_task === 0 ? undefined : preferredRuns(different, per_task, seed)
    for (const [index, candidate] of this.#candidates.entries()) {
      const twin = keptInstead?.[index] ?? -1
      const others = preferred?.get(candidate.task)
      if (twin >= 0)
        this.#drop(candidate.id, { stage: 'near-duplicates', ...this.#nearDuplicate(index, twin) })
      else if (others === undefined || others.includes(candidate.id)) this.#keep(candidate)
      else
        this.#drop(candidate.id, {
          stage: 'per task',
          reason: 'another run of this task was kept',
          detail: others.join(', '),
        })
    }
    const judged = this.#judge?.counts
    return { ...this.#counter.result(), ...(judged === undefined ? {} : { judge: judged }) }
  }

  #isGood({ id }: Stream): boolean {
    return this.#criteria.markOf(id)?.rating === 'good'
  }

  #pass(examined: Examined, candidate: Candidate): void {
    const { near_duplicates, per_task } = this.#criteria.given
    if (near_duplicates) this.#signatures.add(examined)
    if (near_duplicates || per_task > 0) this.#candidates.push(candidate)
    else this.#keep(candidate)
  }

  #keep({ id, weight, digest, profile }: Candidate): void {
    this.#counter.keep(profile, weight)
    this.#sink?.keep({ id, weight, digest })
  }

  #drop(id: string, dropped: Drop & { stage: StageName }): void {
    this.#counter.drop(id, dropped)
    this.#sink?.drop({ id, ...dropped })
  }

  /** Among near-duplicates, one marked good is kept, or else the one with the highest weight; ties are broken by seed and id. */
  #precedence(): Uint32Array {
    const { seed } = this.#criteria.given
    const tieBreakers = Float64Array.from(this.#candidates, ({ id }) => fractionOf(seed, `precedence ${id}`))
    return Uint32Array.from(this.#candidates.keys()).sort((left, right) => {
      const [one, other] = [this.#candidates[left]!, this.#candidates[right]!]
      return (
        Number(other.isMarkedGood) - Number(one.isMarkedGood) ||
        other.weight - one.weight ||
        tieBreakers[left]! - tieBreakers[right]! ||
        (one.id < other.id ? -1 : 1)
      )
    })
  }

  #nearDuplicate(index: number, twin: number): Drop {
    const share = similarity(this.#signatures.at(index), this.#signatures.at(twin))
    return {
      reason: 'near-duplicate',
      detail: `of ${this.#candidates[twin]!.id}, about ${percent(share, 0)} similar`,
    }
  }
}

function candidateOf(
  { sequence, question }: Examined,
  { weight, score }: { weight: number; score?: number },
  profile: Profile,
): Omit<Candidate, 'isMarkedGood'> {
  const { id, taskId } = sequence
  const digest = sequenceDigest(sequence)
  // Imported sequences may have no task; then the question stands for it.
  const task = taskId ?? question
  // Without the filter's judge, that of a comparison (`coa check --relative`) says which attempt is the best.
  const worth = score ?? sequence.verdict?.score ?? 0
  return { id, weight, digest, profile, task, score: worth, characters: streamText(sequence).length }
}

/** The ids of the best sequences of each task: marked good, highest weight, highest score, shortest; ties are broken by seed and id. */
function preferredRuns(candidates: readonly Candidate[], count: number, seed: number): Map<string, string[]> {
  const tieBreakers = new Map(candidates.map(({ id }) => [id, fractionOf(seed, `precedence ${id}`)]))
  const ordered = candidates.toSorted(
    (one, other) =>
      Number(other.isMarkedGood) - Number(one.isMarkedGood) ||
      other.weight - one.weight ||
      other.score - one.score ||
      one.characters - other.characters ||
      tieBreakers.get(one.id)! - tieBreakers.get(other.id)! ||
      (one.id < other.id ? -1 : 1),
  )
  const best = new Map<string, string[]>()
  for (const { task, id } of ordered) {
    const ids = best.get(task) ?? []
    if (ids.length < count) best.set(task, [...ids, id])
  }
  return best
}
