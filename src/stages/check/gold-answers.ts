import type { Task } from '../../schema/index.ts'
import { questionKey } from '../../tasks/index.ts'

/** Finds the task of an answer, and with it the gold answer: by id, or else by question. The first list comes first. */
export class GoldAnswers {
  readonly #byId = new Map<string, Task>()
  readonly #byQuestion = new Map<string, Task>()

  constructor(...lists: Iterable<Task>[]) {
    for (const list of lists)
      for (const task of list) {
        if (task.gold.checker === 'none') continue
        const key = questionKey(task.question)
        if (!this.#byId.has(task.id)) this.#byId.set(task.id, task)
        if (key !== '' && !this.#byQuestion.has(key)) this.#byQuestion.set(key, task)
      }
  }

  of({ taskId, question }: { taskId?: string | undefined; question: string }): Task | undefined {
    return this.#byQuestion.get(questionKey(question)) ?? this.#byId.get(taskId ?? '')
  }

  /** The checkers that the gold answers need. */
  get checkers(): Set<string> {
    return new Set([...this.#byId.values()].map(({ gold }) => gold.checker))
  }
}
