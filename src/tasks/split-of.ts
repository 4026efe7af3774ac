import type { Split } from './contract.ts'
import { fractionOf } from './random.ts'

/**
 * The split a task belongs to, by what it asks and not by the seed it came from: two seeds that happen to make the
 * same task make it for the same split, so no test task is ever trained on. Eight tenths train, one dev, one test.
 */
export function splitOf(essence: string): Split {
  const place = fractionOf(essence)
  return place < 0.8 ? 'train' : place < 0.9 ? 'dev' : 'test'
}

/** Draws again, with a new attempt number, until the draw belongs to the wanted split. */
export function drawFor<T>(
  split: Split,
  essenceOf: (draw: T) => string,
  draw: (attempt: number) => T | undefined,
): T {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const made = draw(attempt)
    if (made !== undefined && splitOf(essenceOf(made)) === split) return made
  }
  throw new Error(`no draw for ${split} in 1000 attempts`)
}
