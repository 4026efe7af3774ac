import { describe, expect, it } from 'vitest'
import { rewardOf } from '../../src/reward/index.ts'
import type { Verdict } from '../../src/schema/index.ts'

const verdict = (outcome: Verdict['outcome'], score?: number): Verdict => ({
  outcome,
  checker: 'code',
  evidence: '',
  ...(score === undefined ? {} : { score }),
})

describe('the reward of a verdict', () => {
  it('is all or nothing by default', () => {
    expect(rewardOf(verdict('correct'))).toBe(1)
    expect(rewardOf(verdict('wrong', 0.7))).toBe(0)
  })

  it('is null for an undecided verdict, whatever is added', () => {
    const options = { partial: true, format: { isWellFormed: true, bonus: 1 }, terms: [1] }
    expect(rewardOf(verdict('undecided', 0.7), options)).toBeNull()
  })

  it('gives partial credit', () => {
    expect(rewardOf(verdict('wrong', 0.7), { partial: true })).toBe(0.7)
    expect(rewardOf(verdict('wrong'), { partial: true })).toBe(0)
    expect(rewardOf(verdict('correct', 0.2), { partial: true })).toBe(1)
  })

  it('adds format and process terms', () => {
    expect(
      rewardOf(verdict('correct'), { format: { isWellFormed: true, bonus: 0.1, penalty: 0.5 } }),
    ).toBeCloseTo(1.1)
    expect(rewardOf(verdict('correct'), { format: { isWellFormed: false, bonus: 0.1, penalty: 0.5 } })).toBe(
      0.5,
    )
    expect(rewardOf(verdict('wrong'), { format: { isWellFormed: false } })).toBeCloseTo(0)
    expect(rewardOf(verdict('wrong'), { terms: [0.25, -0.5] })).toBe(-0.25)
  })
})
