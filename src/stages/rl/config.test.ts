import { expect, it } from 'vitest'
import { ProjectConfig } from '../../pipeline/settings.ts'
import { rlSettings } from './config.ts'

const settings = (rl: object, rollout: object = {}) => rlSettings(ProjectConfig.parse({ rl, rollout }))

it('defaults to DAPO', () => {
  expect(settings({})).toMatchObject({
    mini_batches: 1,
    clip_low: 0.2,
    clip_high: 0.28,
    advantage: 'group',
    normalise: 'token',
    dynamic_sampling: true,
    kl: 0,
    dual_clip: 10,
    importance_cap: 0,
    old_logprobs: 'learner',
    variance_of: 'correct',
    max_gen_batches: 10,
    partial_steps: false,
    overlong_buffer: 6000,
    overlong_factor: 1,
    overlong_filter: false,
    warmup_steps: 10,
    weight_decay: 0.1,
    beta2: 0.999,
    max_norm: 1,
    temperature: 1,
    maxTokens: 30_000,
    concurrency: 64,
  })
})

it("uses the algorithm's defaults only for unset options", () => {
  expect(settings({ algorithm: 'grpo' })).toMatchObject({
    clip_high: 0.2,
    normalise: 'sequence',
    dynamic_sampling: false,
    dual_clip: 3,
    overlong_buffer: 0,
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

it('keeps the best weights by default if anything is evaluated', () => {
  const keep = (rl: object, evaluates?: boolean) =>
    rlSettings(ProjectConfig.parse({ rl }), evaluates === undefined ? {} : { evaluates }).keep
  expect([keep({}), keep({}, false), keep({}, true)]).toEqual(['last', 'last', 'best'])
  expect(keep({ eval_every: 0 }, true)).toBe('last')
  expect([keep({ keep: 'last' }, true), keep({ keep: 'best' }, false)]).toEqual(['last', 'best'])
})

it('refuses invalid settings before anything is sampled', () => {
  expect(() => settings({}, { temperature: 0 })).toThrow('all rollouts of a prompt are the same')
  expect(() => settings({}, { top_p: 0.9 })).toThrow('rollout.top_p is 0.9')
  expect(() => settings({}, { top_k: 20 })).toThrow('rollout.top_k is 20')
  const masked = { constrained: true, temperature: 0.8 }
  expect(() => settings({ old_logprobs: 'sampler' }, masked)).toThrow('at temperature 1')
  expect(settings({}, masked)).toMatchObject({ importance_cap: 2, isMasked: true, temperature: 0.8 })
  expect(() => settings({ old_logprobs: 'sampler', overlap: 2 })).toThrow('with rl.overlap 2')
  expect(settings({ overlap: 2 }).importance_cap).toBe(2)
  expect(() => settings({ group_size: 1 })).toThrow('rl.group_size is 1')
  expect(settings({ group_size: 1, algorithm: 'reinforce++' }).group_size).toBe(1)
  expect(() => settings({ overlong_buffer: 200 }, { max_tokens: 100 })).toThrow('rl.overlong_buffer is 200')
  expect(() => settings({ mini_batches: 9 })).toThrow('only 8 groups')
  expect(() => settings({ dual_clip: 1 })).toThrow('rl.dual_clip is 1')
})
