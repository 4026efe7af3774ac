import type { Task } from '../../schema/index.ts'
import { RowSkipped } from './row.ts'
import { contentHash } from './task-of.ts'

/** Makes the ids of a file's tasks unique and reproducible. */
export class UniqueIds {
  readonly #seen = new Map<string, { line: number; hash: string }>()

  /** A duplicate of an earlier row is skipped; a different question with a used id gets a longer id. */
  claim(task: Task, line: number): Task {
    const hash = contentHash(task.question)
    const earlier = this.#seen.get(task.id)
    if (earlier === undefined) {
      this.#seen.set(task.id, { line, hash })
      return task
    }
    if (earlier.hash === hash) throw new RowSkipped(`it repeats row ${earlier.line}`)
    return this.claim({ ...task, id: `${task.id}-${hash}` }, line)
  }
}
