import { ConfigError } from '../../base/errors/index.ts'
import { fractionOf } from '../../base/random/index.ts'
import type { Example } from './gather.ts'
import type { ContextFrom, SftSettings } from './settings.ts'

/** A part of the training with one context length. */
interface Phase {
  context: number
  /** Number of steps before it. */
  before: number
  steps: number
  stepsPerEpoch: number
  pool: Pool
}

interface Pool {
  chains: number[]
  react: number[]
  /** How many of those in `react` an epoch uses. */
  reactTimes: number
}

export interface Examples {
  chains: readonly Example[]
  react: readonly Example[]
}

export type PlanSettings = Pick<
  SftSettings,
  'seed' | 'epochs' | 'max_steps' | 'batch_tokens' | 'react_share' | 'contexts'
>

/**
 * Assigns examples to steps. It depends only on examples and settings, so the step number is all that is needed to
 * resume.
 */
export class BatchPlanner {
  readonly total: number
  readonly #phases: Phase[]
  readonly #examples: readonly Example[]
  readonly #settings: PlanSettings
  #epoch: { name: string; steps: number[][] } | undefined

  constructor({ chains, react }: Examples, settings: PlanSettings) {
    this.#examples = [...chains, ...react]
    this.#settings = settings
    this.#phases = []
    let before = 0
    for (const [index, { context, from }] of settings.contexts.entries()) {
      const pool = poolOf(chains, react, context, settings.react_share)
      if (pool.chains.length === 0) throw nothingFits(chains, context)
      const stepsPerEpoch = this.#stepsPerEpoch(pool)
      const steps = stepsOf(settings, from, settings.contexts[index + 1], stepsPerEpoch)
      this.#phases.push({ context, before, steps, stepsPerEpoch, pool })
      before += steps
    }
    this.total = before
  }

  /** The examples of a step, counted from 1, and its context length. */
  step(number: number): { examples: Example[]; context: number } {
    const at = this.#phases.findLastIndex(({ before }) => before < number)
    const phase = this.#phases[at]!
    const place = number - 1 - phase.before
    const epoch = Math.floor(place / phase.stepsPerEpoch)
    const chosen = this.#steps(phase, at, epoch)[place % phase.stepsPerEpoch]!
    return { examples: chosen.map((index) => this.#examples[index]!), context: phase.context }
  }

  #steps(phase: Phase, at: number, epoch: number): number[][] {
    const name = `${at} ${epoch}`
    if (this.#epoch?.name !== name) {
      const items = this.#itemsOf(phase.pool, name)
      this.#epoch = { name, steps: planBatches(items, phase.stepsPerEpoch) }
    }
    return this.#epoch.steps
  }

  #itemsOf({ chains, react, reactTimes }: Pool, epoch: string): BatchItem[] {
    const item = (index: number, copy: number): BatchItem => {
      const { id, tokens } = this.#examples[index]!
      return { index, tokens: tokens.length, at: fractionOf(this.#settings.seed, epoch, id, copy) }
    }
    const copies = (index: number): BatchItem[] =>
      Array.from({ length: this.#examples[index]!.times }, (_, copy) => item(index, copy))
    const items = chains.flatMap(copies)
    for (let copy = 0, left = reactTimes; left > 0; copy++, left -= react.length) {
      const round = react.map((index) => item(index, copy)).sort((one, other) => one.at - other.at)
      items.push(...round.slice(0, left))
    }
    return items
  }

  #stepsPerEpoch({ chains, react, reactTimes }: Pool): number {
    let items = reactTimes
    let tokens = 0
    for (const index of chains) {
      const { times, tokens: each } = this.#examples[index]!
      items += times
      tokens += times * each.length
    }
    // Which of these are sampled differs between epochs; their number does not.
    for (const index of react) tokens += (this.#examples[index]!.tokens.length * reactTimes) / react.length
    return Math.min(Math.max(1, Math.round(tokens / this.#settings.batch_tokens)), items)
  }
}

function poolOf(
  chains: readonly Example[],
  react: readonly Example[],
  context: number,
  reactShare: number,
): Pool {
  const fitting = (examples: readonly Example[], from: number): number[] =>
    examples.flatMap(({ tokens }, index) => (tokens.length <= context ? [from + index] : []))
  const pool = { chains: fitting(chains, 0), react: fitting(react, chains.length) }
  const times = pool.chains.reduce((sum, index) => sum + chains[index]!.times, 0)
  const reactTimes = pool.react.length === 0 ? 0 : Math.round((times * reactShare) / (1 - reactShare))
  return { ...pool, reactTimes }
}

function nothingFits(chains: readonly Example[], context: number): ConfigError {
  const shortest = chains.reduce(
    (least, { tokens }) => Math.min(least, tokens.length),
    Number.POSITIVE_INFINITY,
  )
  return new ConfigError(
    `no sequence to train on fits into ${context} tokens: the shortest has ${shortest}`,
    {
      fix: 'Increase sft.context, or use a model with a longer context or a tokenizer that needs fewer tokens.',
    },
  )
}

/** Number of steps in a phase: its share of max_steps, or of the epochs. */
function stepsOf(
  { max_steps, epochs }: PlanSettings,
  from: number,
  next: ContextFrom | undefined,
  perEpoch: number,
): number {
  const until = next?.from ?? 1
  if (max_steps > 0) return Math.round(until * max_steps) - Math.round(from * max_steps)
  return Math.max(1, Math.round((until - from) * epochs * perEpoch))
}

/** An item to assign to a step: its size, and a random number that orders items of the same size. */
export interface BatchItem {
  index: number
  tokens: number
  at: number
}

/**
 * Distributes items over `count` batches of similar size. Items are sorted by length into strata, with as many items
 * per stratum as there are batches, and every batch gets one of each, chosen at random. As lengths decrease from
 * stratum to stratum, no two batches differ by more tokens than the longest item has.
 */
export function planBatches(items: readonly BatchItem[], count: number): number[][] {
  const byLength = [...items].sort((left, right) => right.tokens - left.tokens || byRandom(left, right))
  const steps = Array.from({ length: count }, (_, step) => ({ step, tokens: 0, items: [] as number[] }))
  for (let from = 0; from < byLength.length; from += count) {
    const stratum = byLength.slice(from, from + count)
    // A partial stratum goes to the smallest batches, its longest item to the very smallest.
    const isFull = stratum.length === count
    const receivers = isFull
      ? steps
      : [...steps].sort((left, right) => left.tokens - right.tokens || left.step - right.step)
    if (isFull) stratum.sort(byRandom)
    for (const [place, { index, tokens }] of stratum.entries()) {
      receivers[place]!.items.push(index)
      receivers[place]!.tokens += tokens
    }
  }
  return steps.map((step) => step.items)
}

function byRandom(left: BatchItem, right: BatchItem): number {
  return left.at - right.at || left.index - right.index
}
