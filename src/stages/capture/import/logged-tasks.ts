import type { LoggedRun } from '../../../logs/index.ts'
import { taskIdOf } from '../../../logs/index.ts'
import type { Gold, Task } from '../../../schema/index.ts'
import { questionKey } from '../../../tasks/index.ts'

/** Finds the task of each run: among those the user named, or made from the gold answer in the log. */
export class LoggedTasks {
  readonly #byId = new Map<string, Task>()
  readonly #byQuestion = new Map<string, Task>()
  readonly #domain: string

  constructor(domain: string, tasks: readonly Task[]) {
    this.#domain = domain
    for (const task of tasks) {
      this.#byId.set(task.id, task)
      this.#byQuestion.set(questionKey(task.question), task)
    }
  }

  /** Undefined if the log has no gold answer and the user named no such task. */
  taskOf({ id, gold }: LoggedRun, question: string): Task | undefined {
    const named = this.#byId.get(id ?? '') ?? this.#byQuestion.get(questionKey(question))
    if (named !== undefined) return named
    if (gold === undefined || gold.length === 0 || question.trim() === '') return undefined
    return {
      v: 1,
      id: taskIdOf(question),
      suite: 'import',
      domain: this.#domain,
      question,
      gold: goldOf(gold),
      meta: {},
    }
  }
}

const NUMBER = /^-?[\d,]+(?:\.\d+)?$/

function goldOf(answers: readonly string[]): Gold {
  const [first = ''] = answers
  return answers.length === 1 && NUMBER.test(first.trim())
    ? { checker: 'math', answer: first.trim() }
    : { checker: 'exact', answers: [...answers] }
}
