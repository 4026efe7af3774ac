import { describe, expect, it } from 'vitest'
import { makeRollout, makeTask, wrong } from '../../../test/rl/make-rollout.ts'
import type { RolloutJob } from '../../agent/contract.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import type { Rollout } from '../../schema/index.ts'
import { rlSettings } from './config.ts'
import { PolicySteps } from './policy-steps.ts'
import { RolloutPool, type Sampling } from './rollout-pool.ts'
import type { SampledStep, TaskCursor } from './sample-step.ts'

const tasks = Array.from({ length: 10 }, (_, number) => makeTask(`t${number}`))
const start: TaskCursor = { place: 0, done: [], passRates: {} }

/** One step after `step - 1` steps of training. */
async function sampleStep(sampling: Omit<Sampling, 'policy'>, step: number): Promise<SampledStep> {
  const pool = new RolloutPool({ ...sampling, policy: new PolicySteps(step - 1) }, start)
  try {
    return await pool.next()
  } finally {
    await pool.close()
  }
}

/** `solved` says whether rollout `number` of a task is correct. */
function sampling(
  rl: object,
  solved: (taskId: string, number: number) => boolean,
  parts: Partial<Sampling> = {},
): Omit<Sampling, 'policy'> & { jobs: RolloutJob[]; most: () => number } {
  const jobs: RolloutJob[] = []
  let [now, most] = [0, 0]
  return {
    jobs,
    most: () => most,
    tasks,
    settings: rlSettings(ProjectConfig.parse({ rl, rollout: { concurrency: 3 } })),
    signal: new AbortController().signal,
    rollOut: async (job, checkpoint): Promise<Rollout> => {
      jobs.push(job)
      most = Math.max(most, ++now)
      // Later ones finish sooner: the order must not depend on it.
      await new Promise((resolve) => setTimeout(resolve, 5 - (jobs.length % 5)))
      now--
      const { id, groupId, task, seed } = job
      const isRight = solved(task.id, Number(id.split('-').at(-1)))
      return {
        ...makeRollout({ id, groupId, taskId: task.id, seed, checkpoint }),
        ...(isRight ? {} : { verdict: wrong }),
      }
    },
    ...parts,
  }
}

const half = (_: string, number: number): boolean => number % 2 === 0

describe('one step', () => {
  it('samples groups with separate seeds and limited concurrency, reproducibly', async () => {
    const one = sampling({ groups: 4, group_size: 4 }, half)
    const found = await sampleStep(one, 7)
    expect(found.kept.map(({ id }) => id)).toEqual(['rl-7-0', 'rl-7-1', 'rl-7-2', 'rl-7-3'])
    expect(found.kept.every(({ members }) => members.length === 4)).toBe(true)
    expect(found.rollouts.map(({ id }) => id).slice(0, 5)).toEqual([
      'rl-7-0-0',
      'rl-7-0-1',
      'rl-7-0-2',
      'rl-7-0-3',
      'rl-7-1-0',
    ])
    expect(found.rollouts[0]!.checkpoint).toBe('rl@6')
    expect(one.most()).toBe(3)
    expect(new Set(one.jobs.map(({ seed }) => seed)).size).toBe(16)
    const again = sampling({ groups: 4, group_size: 4 }, half)
    expect(await sampleStep(again, 7)).toEqual(found)
    const later = sampling({ groups: 4, group_size: 4 }, half)
    await sampleStep(later, 8)
    expect(later.jobs[0]!.seed).not.toBe(one.jobs[0]!.seed)
  })

  it('replaces groups without variance until there are enough', async () => {
    // Only three of the ten tasks have variance.
    const able = new Set(['t1', 't4', 't8'])
    const one = sampling({ groups: 3, group_size: 2 }, (id, number) => able.has(id) && number === 0)
    const found = await sampleStep(one, 1)
    expect(found.kept.map(({ taskId }) => taskId).every((id) => able.has(id))).toBe(true)
    expect(found.kept.length).toBe(3)
    expect(found.shortage).toBeUndefined()
    expect(found.tried).toBeGreaterThan(3)
    expect(found.dropped.all_wrong).toBe(found.tried - 3)
    expect(found.next.place).toBe(found.tried)
    const sampled = new Set(found.rollouts.map(({ taskId }) => taskId))
    expect(Object.keys(found.next.passRates).length).toBe(sampled.size)
  })

  it('keeps groups while it samples others, so that the step is the same as with one large batch', async () => {
    const solved = (id: string, number: number): boolean => id !== 't3' && id !== 't5' && number === 0
    const refilled = await sampleStep(sampling({ groups: 6, group_size: 2 }, solved), 1)
    const large = await sampleStep(sampling({ groups: 20, group_size: 2 }, solved), 1)
    expect(refilled.tried).toBeGreaterThan(6)
    expect(refilled.kept).toEqual(large.kept.slice(0, 6))
  })

  it('gives every suite the same share of what it samples, whatever is kept', async () => {
    const suited = tasks.map((task, at) => ({ ...task, suite: at < 2 ? 'code' : 'math' }))
    const codeIn = ({ rollouts }: SampledStep): number =>
      new Set(rollouts.filter(({ taskId }) => ['t0', 't1'].includes(taskId)).map(({ groupId }) => groupId))
        .size
    const solved = (id: string, number: number): boolean => id !== 't3' && number === 0
    const settings = { groups: 8, group_size: 2 }
    const balanced = await sampleStep(sampling({ ...settings, balance: true }, solved, { tasks: suited }), 1)
    expect(Math.abs(2 * codeIn(balanced) - balanced.tried)).toBeLessThanOrEqual(1)
    const other = await sampleStep(sampling(settings, solved, { tasks: suited }), 1)
    expect(codeIn(other)).toBeLessThanOrEqual(2)
  })

  it('stops at the limit and reports what it has', async () => {
    const one = sampling(
      { groups: 3, group_size: 2, max_gen_batches: 3 },
      (id, number) => id === 't1' && number === 0,
    )
    const found = await sampleStep(one, 1)
    expect(found.tried).toBe(9)
    expect(found.shortage).toMatch(/^[01] of the 3 groups it needs; of 9 sampled, \d all wrong$/)
  })

  it('ignores rollouts that were cut off or timed out', async () => {
    const parts = (stop: Rollout['stop']): Partial<Sampling> => ({
      rollOut: async ({ id, groupId, task }) =>
        makeRollout({
          id,
          groupId,
          taskId: task.id,
          ...(id.endsWith('-0') ? { stop, verdict: wrong, answer: undefined } : {}),
        }),
    })
    const found = async (stop: Rollout['stop'], rl: object = {}) =>
      sampleStep(sampling({ groups: 1, group_size: 3, max_gen_batches: 1, ...rl }, half, parts(stop)), 1)
    // Wrong because of its length: the group has variance.
    expect((await found('tokens')).kept[0]!.members.length).toBe(3)
    // Excluded: the remaining two are both correct, so there is no variance.
    expect(await found('tokens', { overlong_filter: true })).toMatchObject({
      kept: [],
      dropped: { all_right: 1 },
      leftOut: { overlong: 1 },
    })
    expect(await found('time')).toMatchObject({ kept: [], dropped: { all_right: 1 }, leftOut: { time: 1 } })
  })

  it('drops nothing without dynamic sampling, and still counts equal groups', async () => {
    const one = sampling({ groups: 3, group_size: 2, dynamic_sampling: false }, () => true)
    const found = await sampleStep(one, 1)
    expect(found).toMatchObject({ tried: 3, shortage: undefined })
    expect(found.kept.length).toBe(3)
    expect(found.equal.all_right).toBe(3)
    expect(found.dropped.all_right).toBe(0)
  })

  it('gives two groups of one task in a step different ids and seeds', async () => {
    const one = sampling({ groups: 3, group_size: 2 }, half, { tasks: [makeTask('only')] })
    const found = await sampleStep(one, 1)
    expect(new Set(found.kept.map(({ id }) => id)).size).toBe(3)
    expect(new Set(one.jobs.map(({ seed }) => seed)).size).toBe(6)
  })

  it('stops at the first failure and starts nothing more', async () => {
    let started = 0
    const one = sampling({ groups: 8, group_size: 8 }, half, {
      rollOut: async () => {
        if (++started === 5) throw new Error('the engine is gone')
        return new Promise((resolve) => setTimeout(() => resolve(makeRollout()), 1))
      },
    })
    await expect(sampleStep(one, 1)).rejects.toThrow('the engine is gone')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(started).toBeLessThan(10)
  })
})
