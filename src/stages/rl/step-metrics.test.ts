import { expect, it } from 'vitest'
import { makeRollout, makeTask, wrong } from '../../../test/rl/make-rollout.ts'
import { spansFrom } from '../../../test/rollout/spans.ts'
import type { Scored } from './contract.ts'
import type { SampledStep } from './sample-step.ts'
import { stepRow } from './step-metrics.ts'

it('summarizes a step in one row', () => {
  const call = (agent: string, outcome: 'ok' | 'malformed' | 'environment') => ({
    agent,
    outcome,
    ms: 1,
    cached: false,
  })
  const rollouts = [
    makeRollout({
      id: '1',
      taskId: 'easy',
      ...spansFrom([
        { prompt: [1] },
        { sampled: [2, 3], logprobs: [-1, -3], policies: [{ step: 1, tokens: 2 }] },
        { inserted: [4, 5, 6] },
        { sampled: [7], logprobs: [-2], agent: 'stray', policies: [{ step: 3, tokens: 1 }] },
      ]),
      calls: [call('search', 'ok'), call('code', 'malformed')],
      ms: { sampling: 300, tools: 60, checking: 40 },
    }),
    makeRollout({
      id: '2',
      taskId: 'hard',
      stop: 'tokens',
      verdict: wrong,
      wellFormed: false,
      ...spansFrom([
        { prompt: [1, 2] },
        { sampled: [3, 4], logprobs: [-0.5, -1.5], policies: [{ step: 3, tokens: 2 }] },
      ]),
      calls: [call('search', 'ok'), call('search', 'environment')],
      ms: { sampling: 200, tools: 0, checking: 0 },
    }),
  ]
  const scored: Scored[] = [
    { rollout: rollouts[0]!, reward: 1, isCorrect: true },
    { rollout: rollouts[1]!, reward: 0, isCorrect: false },
  ]
  const tasks = new Map([
    ['easy', makeTask('easy', { suite: 'math', level: 1 })],
    ['hard', makeTask('hard', { suite: 'search', level: 3 })],
  ])
  const reasons = { all_right: 2, all_wrong: 1, all_equal: 0, too_few: 0 }
  const sampled: SampledStep = {
    step: 4,
    kept: [{ id: 'g', taskId: 'easy', members: scored }],
    leftOver: 0,
    dropped: reasons,
    equal: reasons,
    tried: 4,
    leftOut: { environment: 1, time: 0, overlong: 0, void: 0, undecided: 2, unchecked: 0 },
    rollouts,
    scored,
    stale: 2,
    shortage: undefined,
    slots: 2,
    next: { place: 4, done: [], passRates: {} },
  }
  const trained = {
    updates: 1,
    gradientNorm: 0.5,
    tokens: 5,
    clipLow: 0.1,
    clipHigh: 0.2,
    meanRatio: 1.01,
    meanImportance: 1.02,
    maxImportance: 3,
    capped: 0,
    mismatch: { mean: 0.001, max: 0.01 },
    kl: undefined,
  }
  const times = { wallMs: 1000, trainingMs: 450, waitedMs: 400, overlaps: false }
  expect(stepRow(sampled, trained, tasks, { learningRate: 1e-5, times })).toEqual({
    stage: 'rl',
    step: 4,
    reward_mean: 0.5,
    reward_std: Math.sqrt(0.5),
    pass_rate: 0.5,
    'pass_rate/level/1': 1,
    'pass_rate/level/3': 0,
    'pass_rate/suite/math': 1,
    'pass_rate/suite/search': 0,
    rollouts: 2,
    left_out: 3,
    'left_out/environment': 1,
    'left_out/overlong': 0,
    'left_out/time': 0,
    'left_out/undecided': 2,
    'left_out/unchecked': 0,
    'left_out/void': 0,
    groups_kept: 1,
    'groups_kept/suite/math': 1,
    'groups_kept/suite/search': 0,
    groups_dropped: 3,
    'groups_dropped/all_right': 2,
    'groups_dropped/all_wrong': 1,
    'groups_dropped/all_equal': 0,
    'groups_dropped/too_few': 0,
    groups_left_over: 0,
    groups_stale: 2,
    groups_equal_share: 0.75,
    'groups_equal/all_right': 2,
    'groups_equal/all_wrong': 1,
    'groups_equal/all_equal': 0,
    'groups_equal/too_few': 0,
    tokens_sampled_mean: 2.5,
    tokens_sampled_max: 3,
    tokens_inserted_mean: 1.5,
    'tokens_by_role/stray': 0.5,
    'tokens_by_role/think': 2,
    // (1 + 3 + 2 + 0.5 + 1.5) / 5
    entropy: 1.6,
    well_formed_share: 0.5,
    truncated_share: 0.5,
    'stop/answer': 0.5,
    'stop/tokens': 0.5,
    turns_mean: 2,
    calls: 4,
    malformed_share: 0.25,
    tool_error_share: 0.25,
    'calls/code/malformed': 1,
    'calls/search/environment': 1,
    'calls/search/ok': 2,
    updates: 1,
    tokens_trained: 5,
    clip_low_share: 0.1,
    clip_high_share: 0.2,
    ratio_mean: 1.01,
    importance_mean: 1.02,
    importance_max: 3,
    importance_capped_share: 0,
    mismatch_mean: 0.001,
    mismatch_max: 0.01,
    gradient_norm: 0.5,
    learning_rate: 1e-5,
    // Two tokens of weights that are two steps old and one of the latest, then two of the latest.
    staleness: 0.8,
    staleness_max: 2,
    seconds: 1,
    tokens_per_second: 5,
    // Two slots for 400 ms: 250 sampling, 50 tools and checks, 100 idle.
    'time/sampling': 0.25,
    'time/tools': 0.05,
    'time/training': 0.45,
    'time/waiting': 0.1,
    'time/other': 0.15,
  })
})
