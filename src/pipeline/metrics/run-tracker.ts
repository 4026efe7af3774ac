import type { EvalAttempt, RecordKind, RecordOf, Rollout } from '../../schema/index.ts'
import { streamText } from '../../schema/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { type MetricPoint, pointsOf } from './points.ts'
import type { MetricBatch, SampleChain } from './sink.ts'

/** Characters kept of a chain: a table is for reading, and the run folder has everything. */
const MOST_CHARACTERS = 20_000

interface Tally {
  attempts: number
  correct: number
  tokens: number
}

/** Turns what a run stores into points and sample chains: rows as they are, attempts as running means. */
export class RunTracker {
  readonly #chains: number
  readonly #rolloutOf: (id: string) => Rollout | undefined
  readonly #bySolver = new Map<string, Tally>()
  /** Of each RL step that has no row yet, those with the highest and the lowest reward. */
  readonly #bySteps = new Map<number, SampleChain[]>()

  constructor(chains: number, rolloutOf: (id: string) => Rollout | undefined) {
    this.#chains = chains
    this.#rolloutOf = rolloutOf
  }

  row(row: MetricRow): MetricBatch {
    const points = [...pointsOf([row])]
    const step = Number(row['step'])
    if (row['stage'] !== 'rl') return { points, chains: [] }
    const chains = this.#bySteps.get(step) ?? []
    this.#bySteps.delete(step)
    return { points, chains }
  }

  record<K extends RecordKind>(kind: K, record: RecordOf<K>): MetricBatch {
    if (kind === 'rollout') this.#rollout(record as Rollout)
    return kind === 'attempt' ? this.#attempt(record as EvalAttempt) : { points: [], chains: [] }
  }

  #rollout(rollout: Rollout): void {
    const step = rollout.meta['step']
    if (this.#chains === 0 || typeof step !== 'number') return
    const known = [...(this.#bySteps.get(step) ?? []), chainOf(rollout, 'rl', step)]
    known.sort((left, right) => worth(right) - worth(left))
    if (known.length > this.#chains) known.splice(Math.ceil(this.#chains / 2), 1)
    this.#bySteps.set(step, known)
  }

  #attempt({ solver, verdict, tokens, source, attempt }: EvalAttempt): MetricBatch {
    const tally = this.#bySolver.get(solver) ?? { attempts: 0, correct: 0, tokens: 0 }
    this.#bySolver.set(solver, tally)
    tally.attempts++
    tally.correct += verdict.outcome === 'correct' ? 1 : 0
    tally.tokens += tokens.once
    const step = tally.attempts
    const point = (name: string, value: number): MetricPoint => ({
      time: Date.now(),
      step,
      name: `eval/${solver}/${name}`,
      value,
    })
    const points = [point('accuracy', tally.correct / step), point('tokens', tally.tokens / step)]
    const wanted = step <= this.#chains && attempt === 0 && source?.kind === 'rollout'
    const rollout = wanted ? this.#rolloutOf(source.id) : undefined
    return { points, chains: rollout === undefined ? [] : [chainOf(rollout, `eval/${solver}`, step)] }
  }
}

function worth({ reward, outcome }: SampleChain): number {
  return reward ?? (outcome === 'correct' ? 1 : 0)
}

function chainOf(rollout: Rollout, stage: string, step: number): SampleChain {
  const { prompt, answer = '', verdict, reward = null, stop } = rollout
  const text = streamText(rollout)
  return {
    stage,
    step,
    question: prompt.findLast(({ role }) => role === 'user')?.content ?? '',
    chain: text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text,
    answer,
    outcome: verdict?.outcome ?? stop,
    reward,
  }
}
