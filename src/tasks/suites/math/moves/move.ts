import { isWhole, toNumber, whole } from '../fixed.ts'
import type { Amount } from '../operations.ts'
import type { Current } from '../quantities.ts'
import { countLimit } from '../scale.ts'
import type { Story } from '../story.ts'

/**
 * One step of a story: adds givens, a step and sentences, and returns the new current quantity; undefined if it is not
 * possible with these numbers or words (the story is then restored).
 */
export type Move<From extends Current> = (story: Story, from: From) => Current | undefined

/** A random divisor of a whole amount between low and high, or undefined. */
export function divisorOf(story: Story, amount: Amount, low: number, high: number): number | undefined {
  if (!isWhole(amount.value)) return undefined
  const value = toNumber(amount.value)
  const found: number[] = []
  for (let candidate = low; candidate <= high; candidate++) {
    if (value % candidate === 0 && value !== candidate) found.push(candidate)
  }
  return found.length === 0 ? undefined : story.random.pick(found)
}

/** A percentage of the amount that is a whole number (or whole cents). */
export function percentOf(story: Story, amount: Amount, grain: bigint, low: number, high: number) {
  const found: number[] = []
  for (let percent = low; percent <= high; percent++) {
    if ((amount.value * BigInt(percent)) % (100n * grain) === 0n) found.push(percent)
  }
  return found.length === 0 ? undefined : story.random.pick(found)
}

/** A count between low and high; sometimes chosen so that `base + sign * count` has many divisors. */
export function adjusting(story: Story, base: number, sign: 1 | -1, low: number, high: number): number {
  const drawn = story.random.int(low, high)
  const divisor = story.random.pick(story.scale.divisors)
  const result = base + sign * drawn
  const moved = drawn - sign * (result % divisor)
  return moved >= low && moved <= high ? moved : drawn
}

export const isCount = (amount: Amount | undefined): amount is Amount =>
  amount !== undefined && isWhole(amount.value) && amount.value <= whole(countLimit)

/** A, B and C. */
export const listed = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

/** 3 : 5, 3 to 5; the parts have no common divisor and differ. */
export function ratioFor(story: Story, amount: Amount, grain: bigint): readonly [number, number] | undefined {
  const found: (readonly [number, number])[] = []
  for (let left = 1; left <= 9; left++) {
    for (let right = 1; right <= 9; right++) {
      const sum = BigInt(left + right)
      if (left !== right && commonDivisor(left, right) === 1 && amount.value % (sum * grain) === 0n)
        found.push([left, right])
    }
  }
  return found.length === 0 ? undefined : story.random.pick(found)
}

function commonDivisor(left: number, right: number): number {
  return right === 0 ? left : commonDivisor(right, left % right)
}
