import { expect, it } from 'vitest'
import { makeRollout } from '../../../test/rl/make-rollout.ts'
import type { Group } from './contract.ts'
import { adviceFor, dropReason, KeepRate } from './dynamic-sampling.ts'

const settings = { dynamic_sampling: true, variance_of: 'reward', group_size: 4 } as const
/** Rewards; 1 and more are correct. */
const group = (...rewards: number[]): Group => ({
  id: 'g',
  taskId: 't',
  members: rewards.map((reward) => ({ rollout: makeRollout(), reward, isCorrect: reward >= 1 })),
})

it('drops groups without variance, and says why', () => {
  const table = [
    [[1, 0, 0, 0], undefined],
    [[1, 1, 1, 1], 'all_right'],
    [[0, 0, 0, 0], 'all_wrong'],
    [[0.1, 0.1, 0.1, 0.1], 'all_wrong'],
    [[0, 0, -0.5, 0], undefined],
    [[1], 'too_few'],
    [[], 'too_few'],
  ] as const
  for (const [rewards, reason] of table) expect(dropReason(group(...rewards), settings)).toBe(reason)
})

it('considers only correctness if asked to', () => {
  const only = { ...settings, variance_of: 'correct' } as const
  expect(dropReason(group(0, 0, -0.5, 0), only)).toBe('all_wrong')
  expect(dropReason(group(1, 1.5, 1, 1), only)).toBe('all_right')
  expect(dropReason(group(1, 0, 1, 1), only)).toBeUndefined()
})

it('keeps groups of one, and equal groups without dynamic sampling', () => {
  expect(dropReason(group(0), { ...settings, group_size: 1 })).toBeUndefined()
  expect(dropReason(group(), { ...settings, group_size: 1 })).toBe('too_few')
  expect(dropReason(group(0, 0), { ...settings, dynamic_sampling: false })).toBeUndefined()
  expect(dropReason(group(0), { ...settings, dynamic_sampling: false })).toBe('too_few')
})

it('estimates the share of groups that are kept, and follows it', () => {
  const rate = new KeepRate({ groups: 8, max_gen_batches: 10 })
  expect(rate.share).toBe(1)
  for (let count = 0; count < 4; count++) rate.add(false)
  expect(rate.share).toBe(0.5)
  expect(rate.optimistic(16)).toBe(10)
  for (let step = 0; step < 6; step++) {
    rate.nextStep()
    for (let count = 0; count < 8; count++) rate.add(count < 6)
  }
  expect(rate.share).toBeCloseTo(0.75, 2)
  for (let count = 0; count < 1000; count++) rate.add(false)
  expect(rate.share).toBe(0.1)
})

it('gives advice by the most frequent reason', () => {
  const none = { all_right: 0, all_wrong: 0, all_equal: 0, too_few: 0 }
  expect(adviceFor({ ...none, all_right: 5, all_wrong: 2 })).toContain('too easy')
  expect(adviceFor({ ...none, all_right: 1, all_wrong: 2 })).toContain('too hard')
  expect(adviceFor({ ...none, too_few: 2 })).toContain('judged')
})
