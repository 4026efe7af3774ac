import { digestOf } from '../../base/digests/index.ts'
import { type Mark, markId, type Rollout, type Task } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { goldOfAnswer, questionKey } from '../../tasks/index.ts'
import type { ServedTokens } from '../usage.ts'

/** How a chain came about, as far as its rollout does not say. */
export interface Served {
  question: string
  sampling: Record<string, number>
  tokens: ServedTokens
}

export interface RecorderParts {
  run: Run
  /** The model's id in the API. */
  model: string
  /** What the questions are asked in, and what tools need to know about them. */
  task: Pick<Task, 'domain' | 'meta'>
  /** Told of what could not be stored; the replies do not depend on it. */
  onFailure: (message: string) => void
}

/** Marks tasks whose gold answer came with feedback and may be replaced by later feedback. */
const fromFeedback = 'answerFrom'

/**
 * Stores served chains as rollouts of a run, their questions as tasks, and what clients think of them as marks. A chain is in the
 * log before its reply ends.
 */
export class Recorder {
  readonly #parts: RecorderParts
  /** By digests of the questions. */
  readonly #tasks = new Map<string, string>()
  #failed = ''

  constructor(parts: RecorderParts) {
    this.#parts = parts
    for (const { id, question, meta } of parts.run.scan('task'))
      if (meta['for'] !== 'rl') this.#tasks.set(digestOf(questionKey(question)), id)
  }

  get run(): string {
    return this.#parts.run.id
  }

  /** Whether it could be stored. */
  add(rollout: Rollout, { question, sampling, tokens }: Served): boolean {
    return this.#store(() => {
      const { run, model } = this.#parts
      const { meta, ...rest } = rollout
      const taskId = this.#taskOf(question)
      const served = { model, sampling, tokens: { ...tokens } }
      run.append('rollout', { ...rest, taskId, meta: { ...meta, served } })
    })
  }

  /** Notes which of several chains was the reply. */
  choose(id: string): void {
    this.#store(() => {
      const { run } = this.#parts
      const rollout = run.get('rollout', id)
      if (rollout !== undefined)
        run.append('rollout', { ...rollout, meta: { ...rollout.meta, isReply: true } })
    })
  }

  /** The recorded chains of a request, by their number; at most so many were asked for. */
  chainsOf(request: string, most: number): Map<number, Rollout> {
    const { run } = this.#parts
    const found = new Map<number, Rollout>()
    for (let number = 0; number < most; number++) {
      const rollout = run.get('rollout', `${request}#${number}`)
      if (rollout !== undefined) found.set(number, rollout)
    }
    return found
  }

  /** The task of a chain, and whether feedback may say what its right answer is. */
  taskOf({ taskId }: Rollout): { task: Task | undefined; isOpen: boolean } {
    const task = this.#parts.run.get('task', taskId)
    return {
      task,
      isOpen: task !== undefined && (task.gold.checker === 'none' || task.meta[fromFeedback] !== undefined),
    }
  }

  /** Stores a mark, and the right answer if it comes with one. Returns whether it replaces an earlier one. */
  mark(mark: Omit<Mark, 'v' | 'id' | 'at'>, gold: { task: Task; answer: string } | undefined): boolean {
    const { run } = this.#parts
    const id = markId(mark)
    const isRepeated = run.has('mark', id)
    run.append('mark', { v: 1, id, at: new Date().toISOString(), ...mark })
    if (gold !== undefined)
      run.append('task', {
        ...gold.task,
        gold: goldOfAnswer(gold.answer),
        meta: { ...gold.task.meta, [fromFeedback]: mark.by },
      })
    return isRepeated
  }

  #taskOf(question: string): string {
    const { run, task } = this.#parts
    const key = digestOf(questionKey(question))
    const known = this.#tasks.get(key)
    if (known !== undefined) return known
    const id = `served-${key}`
    run.append('task', { v: 1, id, suite: 'serve', ...task, question, gold: { checker: 'none' } })
    this.#tasks.set(key, id)
    return id
  }

  #store(work: () => void): boolean {
    try {
      work()
      return true
    } catch (error) {
      const { message } = error as Error
      // A full disk fails for every chain; saying so once is enough.
      if (message !== this.#failed) this.#parts.onFailure(`a chain could not be recorded: ${message}`)
      this.#failed = message
      return false
    }
  }
}
