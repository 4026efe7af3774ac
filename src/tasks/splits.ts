import { textFraction } from '../base/random/index.ts'
import type { Split } from '../schema/index.ts'

/**
 * The split of a task, decided by its template (its structure without names and numbers). So, for any seed, no test task
 * has a template that was trained on. 80% of the templates are train, 10% dev and 10% test.
 */
export function splitOf(template: string): Split {
  const fraction = textFraction(template)
  return fraction < 0.8 ? 'train' : fraction < 0.9 ? 'dev' : 'test'
}

/** Samples candidates, each with a new attempt number, until one belongs to the split. */
export function sampleForSplit<T>(
  split: Split,
  templateOf: (candidate: T) => string,
  sample: (attempt: number) => T | undefined,
): T {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const candidate = sample(attempt)
    if (candidate !== undefined && splitOf(templateOf(candidate)) === split) return candidate
  }
  throw new Error(`found no task for ${split} in 1000 attempts`)
}
