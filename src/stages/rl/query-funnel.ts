import type { Drop } from './query-filters.ts'

type QueryStage = 'disjoint' | 'without tools' | 'pass rate'

/** Which tasks are worth practising on, and why the others are not. */
export interface QueryCounts {
  tasks: number
  kept: number
  stages: { name: QueryStage; before: number; after: number }[]
  reasons: { stage: QueryStage; reason: string; count: number; examples: { id: string; detail: string }[] }[]
}

/** Of each reason. */
const EXAMPLES = 3

/** Tasks pass one stage after the other; each stage sees only what those before it left. */
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
