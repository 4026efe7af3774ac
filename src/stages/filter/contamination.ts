import { createHash } from 'node:crypto'
import { hashShingles, WordBuffer, wordKey } from '../../base/digests/index.ts'
import { ConfigError } from '../../base/errors/index.ts'
import { percent } from '../../base/text/index.ts'
import { benchmarks, openTasks, type Split, suites } from '../../tasks/index.ts'
import type { TasksConfig } from '../../tasks/settings.ts'
import type { Drop } from './examine.ts'
import { type FilterSection, type FilterSettings, sourceFromText } from './settings.ts'

interface Known {
  source: string
  /** Number of word n-grams. */
  grams: number
}

/** Evaluation questions, stored as hashes only: the texts are not kept. */
export class EvalQuestions {
  readonly #width: number
  readonly #known: Known[] = []
  readonly #whole = new Map<string, string>()
  /** Which questions contain an n-gram. */
  readonly #holders = new Map<number, number[]>()
  readonly #digest = createHash('sha256')
  readonly #words = new WordBuffer()
  readonly #grams = new WordBuffer()

  /** `width`: words per n-gram. */
  constructor(width: number) {
    this.#width = width
  }

  /** With `wholeOnly`, only an identical question counts as a match. */
  add(source: string, question: string, { wholeOnly = false } = {}): void {
    this.#digest.update(`${source}\0${question}\0`)
    const whole = this.#read(question)
    if (this.#whole.has(whole)) return
    this.#whole.set(whole, source)
    if (wholeOnly) return
    const grams = this.#distinctGrams()
    for (const gram of grams) {
      const holders = this.#holders.get(gram)
      if (holders === undefined) this.#holders.set(gram, [this.#known.length])
      else holders.push(this.#known.length)
    }
    this.#known.push({ source, grams: grams.size })
  }

  /**
   * The most similar eval question, and the overlap: shared n-grams as a share of the shorter question's, so that a
   * question wrapped in instructions is found too.
   */
  overlap(question: string): { source: string; share: number } | undefined {
    const source = this.#whole.get(this.#read(question))
    if (source !== undefined) return { source, share: 1 }
    const grams = this.#distinctGrams()
    const common = new Map<number, number>()
    for (const gram of grams)
      for (const holder of this.#holders.get(gram) ?? []) common.set(holder, (common.get(holder) ?? 0) + 1)
    let best: { source: string; share: number } | undefined
    for (const [holder, count] of common) {
      const known = this.#known[holder]!
      const share = count / Math.min(grams.size, known.grams)
      if (share > (best?.share ?? 0)) best = { source: known.source, share }
    }
    return best
  }

  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  /** Fills the buffers of words and n-grams and returns all words as one key. */
  #read(question: string): string {
    const key = wordKey(question, this.#words)
    this.#grams.clear()
    hashShingles(this.#words.values, this.#width, this.#grams)
    return key
  }

  /** A question shorter than one n-gram may be a common phrase, so only an identical question counts. */
  #distinctGrams(): Set<number> {
    return new Set(this.#words.size < this.#width ? [] : this.#grams.values)
  }
}

/** Training on an evaluation question, or much of one, would invalidate the evaluation. */
export function contaminated(
  question: string,
  evalQuestions: EvalQuestions,
  settings: Pick<FilterSettings, 'overlap_share'>,
): Drop | undefined {
  const found = evalQuestions.overlap(question)
  if (found === undefined || found.share < settings.overlap_share) return undefined
  // The question itself is not included: some benchmarks must not be written to disk.
  return {
    reason: `question is in ${found.source}`,
    detail: `${percent(found.share, 0)} overlap`,
  }
}

/**
 * Reads the sets named in `filter.against`: files whole, suites and benchmarks in the split used for evaluation.
 * Tasks of a generated suite share their wording, and its splits share no task, so only identical questions count: by
 * n-grams, nearly all training tasks would look contaminated.
 */
export async function readEvalQuestions(
  { filter, tasks, project }: Omit<TasksConfig, 'language'> & { filter: FilterSection },
  signal: AbortSignal,
): Promise<EvalQuestions> {
  const questions = new EvalQuestions(filter.overlap_words)
  for (const set of filter.against) {
    const { from, split } = typeof set === 'string' ? { from: set, split: evalSplit(set) } : set
    const name = typeof set === 'string' ? from : `${from}:${split}`
    const source = {
      from,
      data: tasks.data,
      seed: project.seed,
      signal,
      ...(split === undefined ? {} : { split }),
      // A generated suite is infinite.
      ...(suites.has(from) ? { limit: filter.against_count } : {}),
    }
    for await (const { suite, question } of openTasks(source))
      questions.add(name, question, { wholeOnly: suites.has(suite) })
  }
  return questions
}

/** The evaluation split of a suite or benchmark; undefined for all of it. */
function evalSplit(from: string): Split | undefined {
  const named = sourceFromText(from)
  if (typeof named !== 'string')
    throw new ConfigError(`filter.against: "${from}" combines a name and a split`, {
      fix: `Write it as { from = "${named.from}", split = "${named.split}" }.`,
    })
  if (suites.has(from)) return 'test'
  return benchmarks.find(({ name }) => name === from)?.files.find(({ split }) => split === 'test')?.split
}
