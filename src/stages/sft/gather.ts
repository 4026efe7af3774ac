import { setImmediate } from 'node:timers/promises'
import { sha256 } from '../../base/digests/index.ts'
import { ConfigError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import { fractionOf } from '../../base/random/index.ts'
import type { EngineDescription, TrainingExample } from '../../engine/contract.ts'
import { encodeStream } from '../../language/tokens/encode-stream.ts'
import type { Tokenizer } from '../../language/tokens/tokenizer.ts'
import { isTrained } from '../../schema/index.ts'
import type { Selected } from '../../store/selection.ts'
import type { SftSettings } from './settings.ts'

/** A tokenized sequence. The loss mask takes one byte per token until its step comes. */
export interface Example {
  id: string
  taskId: string
  tokens: Int32Array
  learned: Uint8Array
  learnedTokens: number
  times: number
}

export interface ExampleOptions {
  tokenizer: Tokenizer
  limits: Pick<EngineDescription, 'vocabularySize'>
  maskObservations: boolean
  /** For chat templates that print the date: the same when training resumes. */
  date: Date
}

export interface Gathered {
  /** With `sft.react_share = 1`, the ReAct-style sequences in their place. */
  chains: Example[]
  react: Example[]
  /** Held out for evaluation: none of their tasks is trained on. */
  held: Example[]
  leftOut: LeftOut
  /** Number of input sequences. */
  given: number
}

export interface Sources {
  data: () => Iterable<Selected>
  react?: (() => Iterable<Selected>) | undefined
  signal: AbortSignal
  observe: Observe
}

/** Sequences between yields to the event loop, so that reading can be interrupted. */
const YIELD_EVERY = 64

/** Tokenizes all sequences. One that cannot be used is counted and does not stop the others. */
export async function gather(
  { data, react, signal, observe }: Sources,
  settings: SftSettings,
  options: ExampleOptions,
): Promise<Gathered> {
  const leftOut = new LeftOut()
  const longest = Math.max(...settings.contexts.map(({ context }) => context))
  let given = 0
  const read = async (source: Iterable<Selected>): Promise<Example[]> => {
    const examples: Example[] = []
    for (const selected of source) {
      if (++given % YIELD_EVERY === 0) {
        observe({ stage: 'sft', done: given, unit: 'sequences read' })
        await setImmediate()
        signal.throwIfAborted()
      }
      const example = attempt(selected, options)
      if ('reason' in example) leftOut.add(example.reason, selected.sequence.id)
      else if (example.tokens.length > longest) leftOut.add(`longer than ${longest} tokens`, example.id)
      else examples.push(example)
    }
    return examples
  }
  const share = settings.react_share
  const chains = await read(share === 1 ? (react?.() ?? []) : data())
  const chainsGiven = given
  if (chainsGiven === 0) {
    throw new ConfigError('there are no sequences to train on', {
      fix:
        share === 1
          ? 'Make ReAct-style ones with `coa distill RUN --react`, or set sft.react_share to less than 1.'
          : 'Distill and filter team runs first: `coa distill`, then `coa filter`.',
    })
  }
  if (chains.length === 0) {
    throw new ConfigError(`none of the ${chainsGiven} sequences can be trained on: ${reasons(leftOut)}`, {
      fix: `Filter with filter.max_tokens = ${longest} and the model's tokenizer, or use a model with a longer context.`,
    })
  }
  const isMixed = share > 0 && share < 1
  const mixed = isMixed ? await read(react?.() ?? []) : []
  if (isMixed && mixed.length === 0) {
    throw new ConfigError(`sft.react_share is ${share}, but there are no ReAct-style sequences`, {
      fix: 'Make them with `coa distill RUN --react`, or set sft.react_share to 0.',
    })
  }
  const tasks = heldOutTasks(
    chains.map(({ taskId }) => taskId),
    settings.eval_share,
    settings.seed,
  )
  const trained = ({ taskId }: Example): boolean => !tasks.has(taskId)
  const chosen = sampleExamples(chains.filter(trained), settings.max_chains, settings.seed)
  const trainedTasks = new Set(chosen.map(({ taskId }) => taskId))
  return {
    chains: chosen,
    // Only of the same tasks: sft.max_chains limits how much of the team's work is seen, in either style.
    react: mixed.filter(({ taskId }) => trainedTasks.has(taskId)),
    held: chains.filter((example) => !trained(example)),
    leftOut,
    given,
  }
}

/** A random subset of `count`, in the original order; independent of what else is given. 0: all. */
function sampleExamples(examples: Example[], count: number, seed: number): Example[] {
  if (count === 0) return examples
  const order = shuffledBySeed(
    examples.map(({ id }) => id),
    seed,
    'drawn',
  )
  const chosen = new Set(order.slice(0, count).map(({ id }) => id))
  return examples.filter(({ id }) => chosen.has(id))
}

function attempt(selected: Selected, options: ExampleOptions): Example | { reason: string } {
  try {
    return exampleOf(selected, options)
  } catch (cause) {
    return { reason: (cause as Error).message }
  }
}

function reasons(leftOut: LeftOut): string {
  const counts = leftOut.counts().map(([reason, count]) => `${count} × ${reason}`)
  return counts.slice(0, 3).join('; ')
}

/** Covers everything the training curve depends on: examples, settings and the initial model. */
export function planDigest(
  { chains, react, held }: Gathered,
  settings: SftSettings,
  model: string | undefined,
): string {
  // These affect when something is evaluated or saved, not what is trained.
  const { eval_every: _, save_every: __, save_seconds: ___, keep: ____, ...deciding } = settings
  const lines = [JSON.stringify(deciding), model ?? '']
  for (const [name, examples] of Object.entries({ chains, react, held })) {
    lines.push(name)
    for (const { id, tokens, learned, times } of examples)
      lines.push(`${JSON.stringify(id)} ${times} ${sha256(tokens)} ${sha256(learned)}`)
  }
  return sha256(lines.join('\n'))
}

/** Shuffles ids by seed, each with its random number between 0 and 1, which does not depend on the other ids. */
function shuffledBySeed(ids: Iterable<string>, seed: number, what: string): { id: string; at: number }[] {
  return [...new Set(ids)]
    .map((id) => ({ id, at: fractionOf(seed, what, id) }))
    .sort((left, right) => left.at - right.at || (left.id < right.id ? -1 : 1))
}

/** The loss on fewer tasks is too noisy to select a checkpoint by. */
const LEAST = 8
/** If holding out that many would take more than one task in this many, none is held out. */
const ONE_IN = 4

/**
 * Tasks held out of training to select the best checkpoint: a share of them and at least eight. All sequences of a
 * task are on the same side. With fewer than 32 tasks and a share below eight, nothing is held out and the last
 * checkpoint is kept.
 */
export function heldOutTasks(taskIds: Iterable<string>, share: number, seed: number): Set<string> {
  const tasks = shuffledBySeed(taskIds, seed, 'held out')
  const wanted = Math.ceil(share * tasks.length)
  const few = tasks.length < ONE_IN * LEAST ? 0 : LEAST
  const count = share === 0 ? 0 : wanted >= LEAST ? wanted : few
  return new Set(tasks.slice(0, Math.min(count, tasks.length - 1)).map(({ id }) => id))
}

const EXAMPLES = 3

/** Sequences that are not trained on, by reason, with the ids of the first few. */
class LeftOut {
  readonly #reasons = new Map<string, { count: number; first: string[] }>()

  add(reason: string, id: string): void {
    const entry = this.#reasons.get(reason) ?? { count: 0, first: [] }
    this.#reasons.set(reason, entry)
    entry.count++
    if (entry.first.length < EXAMPLES) entry.first.push(id)
  }

  get total(): number {
    return [...this.#reasons.values()].reduce((sum, { count }) => sum + count, 0)
  }

  /** Reasons with counts, most frequent first. */
  counts(): [string, number][] {
    const counts = [...this.#reasons].map(([reason, { count }]): [string, number] => [reason, count])
    return counts.sort((left, right) => right[1] - left[1])
  }

  lines(): string[] {
    return this.counts().map(([reason, count]) => {
      const { first } = this.#reasons.get(reason)!
      return `${count} left out: ${reason} (${first.join(', ')}${count > first.length ? ', …' : ''})`
    })
  }
}

/** Encodes a sequence for training, or says why that is not possible. */
export function exampleOf(
  { sequence, weight }: Selected,
  options: ExampleOptions,
): Example | { reason: string } {
  const { tokenizer, limits, maskObservations, date } = options
  if (!(Number.isInteger(weight) && weight > 0)) return { reason: `a weight of ${weight}` }
  // The end-of-text token is trained on too, but alone it is not enough.
  if (!sequence.spans.some((span) => isTrained(span) && span.text !== ''))
    return { reason: 'no tokens to train on' }
  const { ids, mask, promptLength } = encodeStream(tokenizer, sequence, { prompt: { date } })
  const learned = maskObservations ? mask : new Uint8Array(ids.length).fill(1, promptLength)
  // The first token has no context to be predicted from.
  learned[0] = 0
  const learnedTokens = learned.reduce((sum, each) => sum + each, 0)
  if (learnedTokens === 0) return { reason: 'no tokens to train on' }
  // A server that does not report its vocabulary size gives 0.
  const unknown = limits.vocabularySize > 0 && ids.some((id) => id >= limits.vocabularySize)
  if (unknown) return { reason: "tokens outside the model's vocabulary" }
  const { id, taskId = id } = sequence
  return { id, taskId, tokens: ids, learned, learnedTokens, times: weight }
}

export function trainingExample({ tokens, learned }: Example): TrainingExample {
  return { tokens, weights: new Float32Array(learned) }
}
