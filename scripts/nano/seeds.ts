/**
 * Base text has its own seed range. Everything that is trained or evaluated later uses smaller seeds, so the base
 * text cannot contain any world or task of an evaluation.
 */
export const FIRST_BASE_SEED = 1_000_000

/** A seed for base text; rejects any that might be used for evaluation. */
export function baseSeed(offset: number): number {
  const seed = FIRST_BASE_SEED + offset
  if (Number.isSafeInteger(seed) && seed >= FIRST_BASE_SEED) return seed
  throw new RangeError(
    `the seed ${seed} is not a base text seed: those are integers from ${FIRST_BASE_SEED} on`,
  )
}

/** Base text never uses dev or test tasks. */
export const BASE_SPLIT = 'train'
