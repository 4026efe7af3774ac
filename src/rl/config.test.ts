import { expect, it } from 'vitest'
import { ProjectConfig } from '../config/index.ts'
import { rlSettings } from './config.ts'

const settings = (rl: object, rollout: object = {}) => rlSettings(ProjectConfig.parse({ rl, rollout }))

it('is DAPO where nothing is said', () => {
  expect(settings({})).toMatchObject({
    mini_batches: 1,
    clip_low: 0.2,
    clip_high: 0.28,
    advantage: 'group',
    normalise: 'token',
    dynamic_sampling: true,
    kl: 0,
    dual_clip: 0,
    importance_cap: 2,
    maxTokens: 30_000,
    concurrency: 64,
  })
})

it('takes from the algorithm only what is not said', () => {
  expect(settings({ algorithm: 'grpo' })).toMatchObject({
    clip_high: 0.2,
    normalise: 'sequence',
    dynamic_sampling: false,
  })
  expect(settings({ algorithm: 'reinforce++' })).toMatchObject({ advantage: 'batch', clip_high: 0.2 })
  expect(settings({ algorithm: 'ppo' })).toMatchObject({ advantage: 'leave-one-out', mini_batches: 4 })
  expect(settings({ algorithm: 'ppo', groups: 2 }).mini_batches).toBe(2)
  const own = {
    clip_high: 0.4,
    normalise: 'token',
    dynamic_sampling: true,
    mini_batches: 2,
    advantage: 'batch-group',
  }
  expect(settings({ algorithm: 'grpo', ...own })).toMatchObject({ ...own, clip_low: 0.2 })
})

it('refuses what cannot work, before anything is sampled', () => {
  expect(() => settings({}, { temperature: 0 })).toThrow('all rollouts of a prompt are the same')
  expect(() => settings({ group_size: 1 })).toThrow('rl.group_size is 1')
  expect(settings({ group_size: 1, algorithm: 'reinforce++' }).group_size).toBe(1)
  expect(() => settings({ overlong_buffer: 200 }, { max_tokens: 100 })).toThrow('rl.overlong_buffer is 200')
  expect(() => settings({ mini_batches: 9 })).toThrow('only 8 groups')
  expect(() => settings({ dual_clip: 1 })).toThrow('rl.dual_clip is 1')
})
