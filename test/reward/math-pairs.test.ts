import { describe, expect, it } from 'vitest'
import { checkAnswer } from '../../src/reward/index.ts'
import { mathPairs } from './math-pairs.ts'

describe('the table of mathematical answers', () => {
  it('is large enough to be meaningful', () => {
    expect(mathPairs.length).toBeGreaterThanOrEqual(150)
    expect(mathPairs.filter((pair) => !pair.equal).length).toBeGreaterThanOrEqual(60)
    expect(new Set(mathPairs.map(({ gold, answer }) => `${gold}\n${answer}`)).size).toBe(mathPairs.length)
  })

  it('is decided as a careful reader would decide, never the opposite', async () => {
    const undecided: string[] = []
    const reversed: string[] = []
    const started = performance.now()
    for (const { gold, answer, equal } of mathPairs) {
      const { outcome } = await checkAnswer({ checker: 'math', answer: gold }, answer)
      if (outcome === 'undecided') undecided.push(`${gold} and ${answer}`)
      else if (outcome !== (equal ? 'correct' : 'wrong')) reversed.push(`${gold} and ${answer}: ${outcome}`)
    }
    const right = mathPairs.length - undecided.length - reversed.length
    const ms = (performance.now() - started) / mathPairs.length
    console.log(
      `math pairs: ${right} of ${mathPairs.length} correct (${((100 * right) / mathPairs.length).toFixed(1)} %), ` +
        `${undecided.length} undecided, ${reversed.length} reversed, ${ms.toFixed(1)} ms each`,
    )
    expect(reversed).toEqual([])
    expect(right / mathPairs.length).toBeGreaterThanOrEqual(0.98)
  })
})
