import { WordBuffer, wordKey } from '../../base/digests/index.ts'
import { percent } from '../../base/text/index.ts'

/** Why a task is left out: a reason that can be counted, and the detail of this case. */
export interface Drop {
  reason: string
  detail: string
}

/** Results of a model on one question. Attempts without a verdict are not counted. */
export interface Tries {
  correct: number
  wrong: number
}

/** The model solves it too often without tools: it knows the answer already. */
export function solvedWithoutTools(tries: Tries | undefined, max: number): Drop | undefined {
  // Without a verdict the question is kept.
  if (tries === undefined || shareOf(tries) <= max) return undefined
  return { reason: `solved without tools in more than ${percent(max)}`, detail: inWords(tries) }
}

/** The model solves it too rarely or too often to learn much from it. Both bounds are inclusive. */
export function outsideRange(
  tries: Tries | undefined,
  [low, high]: readonly [number, number],
): Drop | undefined {
  if (tries === undefined) return { reason: 'no attempt could be judged', detail: '' }
  const share = shareOf(tries)
  const detail = inWords(tries)
  if (share < low)
    return { reason: share === 0 ? 'never solved' : `solved in less than ${percent(low)}`, detail }
  if (share > high)
    return { reason: share === 1 ? 'always solved' : `solved in more than ${percent(high)}`, detail }
  return undefined
}

/** Recognizes questions that were trained on before, ignoring case and punctuation. */
export function trainedBefore(trained: Iterable<string>): (question: string) => Drop | undefined {
  const words = new WordBuffer()
  const known = new Set<string>()
  for (const question of trained) known.add(wordKey(question, words))
  return (question) =>
    known.has(wordKey(question, words)) ? { reason: 'trained on before', detail: '' } : undefined
}

const shareOf = ({ correct, wrong }: Tries): number => correct / (correct + wrong)
const inWords = ({ correct, wrong }: Tries): string => `${correct} of ${correct + wrong} attempts`

type QueryStage = 'disjoint' | 'without tools' | 'pass rate'

/** Which tasks are kept for RL, and why the others are not. */
export interface QueryCounts {
  tasks: number
  kept: number
  stages: { name: QueryStage; before: number; after: number }[]
  reasons: { stage: QueryStage; reason: string; count: number; examples: { id: string; detail: string }[] }[]
}

const EXAMPLES = 3

/** Tasks pass one filter after another; each sees only what the previous ones kept. */
export class QueryFunnel<T extends { id: string }> {
  kept: readonly T[]
  readonly #counts: Omit<QueryCounts, 'kept'>

  constructor(tasks: readonly T[]) {
    this.kept = tasks
    this.#counts = { tasks: tasks.length, stages: [], reasons: [] }
  }

  pass(name: QueryStage, judge: (task: T) => Drop | undefined): void {
    const before = this.kept.length
    this.kept = this.kept.filter((task) => {
      const drop = judge(task)
      if (drop !== undefined) this.#count(name, task.id, drop)
      return drop === undefined
    })
    this.#counts.stages.push({ name, before, after: this.kept.length })
  }

  counts(): QueryCounts {
    return { ...this.#counts, kept: this.kept.length }
  }

  #count(stage: QueryStage, id: string, { reason, detail }: Drop): void {
    const { reasons } = this.#counts
    const found = reasons.find((one) => one.stage === stage && one.reason === reason)
    const known = found ?? { stage, reason, count: 0, examples: [] }
    if (found === undefined) reasons.push(known)
    known.count++
    if (known.examples.length < EXAMPLES) known.examples.push({ id, detail })
  }
}
