/**
 * Base text comes from seeds of its own. Everything that is trained or measured later has seeds below this, so no world
 * and no task of an evaluation can have been read before.
 */
export const FIRST_BASE_SEED = 1_000_000

/** A seed for base text; refuses any that somebody might evaluate with. */
export function baseSeed(offset: number): number {
  const seed = FIRST_BASE_SEED + offset
  if (Number.isSafeInteger(seed) && seed >= FIRST_BASE_SEED) return seed
  throw new RangeError(
    `the seed ${seed} is not one for base text: they are whole numbers from ${FIRST_BASE_SEED} on`,
  )
}

/** Base text is never made of dev or test tasks. */
export const BASE_SPLIT = 'train'
