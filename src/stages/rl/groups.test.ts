import { expect, it } from 'vitest'
import { makeRollout } from '../../../test/rl/make-rollout.ts'
import { groupsOf, type Scored, statisticsOf } from './groups.ts'

const row = (id: string, groupId: string, taskId = groupId): Scored => ({
  rollout: { ...makeRollout(), id, groupId, taskId },
  reward: 1,
  isCorrect: true,
})

it('groups by the explicit id alone, in order of appearance', () => {
  const rows = [row('1', 'b'), row('2', 'a'), row('3', 'b'), row('4', 'c', 'b')]
  const found = groupsOf(rows).map(({ id, taskId, members }) => [
    id,
    taskId,
    members.map((m) => m.rollout.id),
  ])
  expect(found).toEqual([
    ['b', 'b', ['1', '3']],
    ['a', 'a', ['2']],
    ['c', 'b', ['4']],
  ])
})

it('refuses a row without a group id, and a group of two prompts', () => {
  expect(() => groupsOf([row('1', 'a'), row('2', '', 't')])).toThrow('rollout 2 has no group id')
  const without = row('3', 'a')
  delete (without.rollout as Partial<Scored['rollout']>).groupId
  expect(() => groupsOf([without])).toThrow('rollout 3 has no group id')
  expect(() => groupsOf([row('1', 'a', 'x'), row('2', 'a', 'y')])).toThrow('holds rollouts of x and of y')
})

it('computes mean and both deviations', () => {
  expect(statisticsOf([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({
    count: 8,
    mean: 5,
    std: Math.sqrt(32 / 7),
    populationStd: 2,
  })
  expect(statisticsOf([0.1, 0.1, 0.1])).toEqual({ count: 3, mean: 0.1, std: 0, populationStd: 0 })
  expect(statisticsOf([3])).toEqual({ count: 1, mean: 3, std: 0, populationStd: 0 })
  expect(statisticsOf([])).toEqual({ count: 0, mean: 0, std: 0, populationStd: 0 })
})
