/** Is one solver better than another? Confidence intervals and a paired test on the same tasks. */
import assert from 'node:assert/strict'
import { mcnemar, passAtK, wilson } from 'chain-of-agents'

const { low, high } = wilson(240, 300)
console.log(`240 of 300: 80.0% [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`)
assert.ok(low < 0.8 && high > 0.8)

// 24 tasks were solved only by the first solver, 6 only by the second.
console.log('p =', mcnemar(24, 6))

// Three of eight attempts are correct: the probability that at least one of two is.
assert.ok(Math.abs(passAtK(8, 3, 2) - (1 - (5 * 4) / (8 * 7))) < 1e-12)
