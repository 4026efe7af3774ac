import { textFraction } from '../base/random/index.ts'
import type { Task } from '../schema/index.ts'

export type Split = NonNullable<Task['split']>

/**
 * The split a task belongs to. It goes by the task's template (how it is put together, without names and numbers), so
 * whatever the seed, no test task has a template that was trained on. Eight tenths of the templates train, a tenth each
 * are dev and test.
 */
export function splitOf(template: string): Split {
  const place = textFraction(template)
  return place < 0.8 ? 'train' : place < 0.9 ? 'dev' : 'test'
}

/** Draws again, with a new attempt number, until the draw belongs to the wanted split. */
export function drawFor<T>(
  split: Split,
  templateOf: (draw: T) => string,
  draw: (attempt: number) => T | undefined,
): T {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const made = draw(attempt)
    if (made !== undefined && splitOf(templateOf(made)) === split) return made
  }
  throw new Error(`no draw for ${split} in 1000 attempts`)
}
