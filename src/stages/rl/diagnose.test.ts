import { describe, expect, it } from 'vitest'
import { randomStream } from '../../engine/checkpoint/index.ts'
import type { MetricRow } from '../../store/index.ts'
import { diagnose, findingText, stepRows } from './diagnose.ts'

/** A healthy training run: it gets better, more confident and a little longer. */
function healthy(
  steps: number,
  change: (row: MetricRow, step: number) => MetricRow = (row) => row,
): MetricRow[] {
  return Array.from({ length: steps }, (_, at) => {
    const progress = at / (steps - 1)
    const row: MetricRow = {
      stage: 'rl',
      step: at + 1,
      rollouts: 64,
      left_out: 1,
      'left_out/environment': 1,
      pass_rate: 0.3 + 0.5 * progress,
      malformed_share: 0.04 - 0.03 * progress,
      truncated_share: 0.05,
      entropy: 1 - 0.6 * progress,
      tokens_sampled_mean: 200 + 60 * progress,
      turns_mean: 3,
      'calls/search/ok': 60,
      'calls/code/ok': 40,
      mismatch_mean: 0.002,
      importance_capped_share: 0,
      staleness: 0,
      groups_equal_share: 0.4,
      'groups_equal/all_right': 2,
      'groups_equal/all_wrong': 2,
    }
    return { ...row, ...change(row, at + 1) }
  })
}

const ids = (rows: MetricRow[]): string[] => diagnose(rows).map(({ id }) => id)

it('finds nothing in a healthy training run of any length', () => {
  for (const steps of [1, 2, 3, 9, 10, 19, 20, 40, 100]) expect(ids(healthy(steps))).toEqual([])
  expect(diagnose([])).toEqual([])
})

/** Each rule: what triggers it, and something similar that must not. */
const cases: [
  id: string,
  words: string,
  bad: Parameters<typeof healthy>[1],
  fine: Parameters<typeof healthy>[1],
][] = [
  [
    'invalid-calls',
    'are malformed',
    (_, step) => ({ malformed_share: 0.02 + step / 200 }),
    // Many from the start, but not increasing.
    () => ({ malformed_share: 0.2 }),
  ],
  [
    'reward-plateau',
    'too strict',
    (_, step) => ({
      pass_rate: step < 20 ? 0.02 * step : 0.4 + 0.01 * (step % 2),
      'groups_equal/all_wrong': 6,
      'groups_equal/all_right': 1,
    }),
    // At the ceiling: no room for improvement.
    () => ({ pass_rate: 0.97 }),
  ],
  [
    'reward-plateau',
    'too loose',
    (_, step) => ({ pass_rate: step < 20 ? 0.6 : 0.6 + 0.01 * (step % 2), 'groups_equal/all_right': 6 }),
    // Flat because harder tasks are sampled: the accuracy rises.
    (_, step) => ({ pass_rate: 0.5, eval_accuracy: 0.01 * step }),
  ],
  [
    'reward-plateau',
    'too small',
    (_, step) => ({ pass_rate: 0.5, eval_accuracy: 0.5 + 0.001 * (step % 2) }),
    // Noisy, but rising.
    (_, step) => ({ pass_rate: 0.3 + 0.01 * step + 0.03 * (step % 2) }),
  ],
  [
    'reward-falls',
    'steps 1 to 10',
    (_, step) => ({ pass_rate: 0.8 - 0.004 * step + 0.02 * (step % 2) }),
    // A dip that is over.
    (_, step) => ({ pass_rate: 0.7 + 0.003 * step - (step > 15 && step < 25 ? 0.1 : 0) }),
  ],
  [
    'one-tool-overused',
    'of search',
    (_, step) => (step > 20 ? { 'calls/search/ok': 95, 'calls/code/ok': 5 } : {}),
    // From the start: the tasks need it.
    () => ({ 'calls/search/ok': 95, 'calls/code/ok': 5 }),
  ],
  [
    'tools-abandoned',
    'tool calls on average, down from 3.0',
    (_, step) => ({ turns_mean: step > 20 ? 0.5 : 3 }),
    // Fewer, but not abandoned.
    (_, step) => ({ turns_mean: step > 20 ? 1.5 : 3 }),
  ],
  [
    'truncated-answers',
    'cut off',
    (_, step) => (step > 35 ? { truncated_share: 0.3 } : {}),
    () => ({ truncated_share: 0.15 }),
  ],
  [
    'entropy-collapse',
    'entropy per token',
    (_, step) => ({ entropy: step > 25 ? 0.05 : 1, pass_rate: 0.4 + 0.05 * (step % 3) }),
    // More confident because it is correct.
    (_, step) => ({ entropy: step > 25 ? 0.05 : 1, pass_rate: step > 25 ? 0.95 : 0.4 }),
  ],
  [
    'length-explosion',
    'no higher accuracy',
    (_, step) => ({ tokens_sampled_mean: step > 25 ? 900 : 200, pass_rate: 0.4 + 0.05 * (step % 3) }),
    // Longer and better.
    (_, step) => ({ tokens_sampled_mean: step > 25 ? 900 : 200 }),
  ],
  [
    'sampler-mismatch',
    'nats per token',
    () => ({ mismatch_mean: 0.08 }),
    // A step of staleness explains as much.
    () => ({ mismatch_mean: 0.08, staleness: 1 }),
  ],
  [
    'sampler-mismatch',
    'was capped',
    () => ({ importance_capped_share: 0.2 }),
    () => ({ importance_capped_share: 0.05 }),
  ],
  [
    'off-policy',
    'nats per token',
    () => ({ mismatch_mean: 0.3, staleness: 1.5 }),
    () => ({ mismatch_mean: 0.08, staleness: 1.5 }),
  ],
  [
    'off-policy',
    'was capped',
    () => ({ importance_capped_share: 0.2, staleness: 1.5 }),
    () => ({ importance_capped_share: 0.05, staleness: 1.5 }),
  ],
  [
    'equal-groups',
    'most of them wrong',
    (_, step) => (step > 37 ? { groups_equal_share: 0.9, 'groups_equal/all_wrong': 7 } : {}),
    () => ({ groups_equal_share: 0.6 }),
  ],
  [
    'equal-groups',
    'most of them correct',
    () => ({ groups_equal_share: 0.9, 'groups_equal/all_right': 7 }),
    () => ({}),
  ],
  [
    'left-out',
    'failed',
    () => ({ left_out: 20, 'left_out/environment': 20 }),
    () => ({ left_out: 8, 'left_out/environment': 8 }),
  ],
]

describe('each rule', () => {
  for (const [id, words, bad, fine] of cases) {
    it(`${id} fires when it should (${words}), and not otherwise`, () => {
      const found = diagnose(healthy(40, bad))
      const finding = found.find((each) => each.id === id)
      expect(finding, JSON.stringify(found)).toMatchObject({ step: 40 })
      expect(findingText(finding!)).toContain(words)
      expect(finding!.advice).toMatch(/\.$/)
      expect(ids(healthy(40, fine))).not.toContain(id)
    })
  }
})

it('uses the last row of a repeated step, of the last training run, and ignores other stages', () => {
  const rows: MetricRow[] = [
    { stage: 'rl', step: 3, pass_rate: 0.9 },
    { stage: 'rl', step: 0, begins: true, eval_accuracy: 0.1 },
    { stage: 'sft', step: 1, loss: 2 },
    { stage: 'rl', step: 1, pass_rate: 0.1 },
    { stage: 'rl', step: 2, pass_rate: 0.2 },
    { stage: 'rl', step: 1, pass_rate: 0.3 },
  ]
  expect(stepRows(rows)).toEqual([
    { stage: 'rl', step: 1, pass_rate: 0.3 },
    { stage: 'rl', step: 2, pass_rate: 0.2 },
  ])
})

/** 40 steps on one NVIDIA H200 at a learning rate of 1.5e-4: accuracy rose for a while, then fell. */
const unlearned = [
  777, 705, 707, 800, 729, 788, 832, 798, 777, 760, 767, 855, 783, 757, 746, 867, 758, 733, 762, 798, 812,
  698, 751, 709, 712, 737, 697, 703, 802, 721, 781, 714, 757, 736, 784, 682, 702, 721, 656, 694,
].map((thousandths) => thousandths / 1000)

it('distinguishes a drop from a plateau', () => {
  const rows = unlearned.map((pass_rate, at) => ({ ...healthy(2)[0], step: at + 1, pass_rate }))
  const [finding] = diagnose(rows).filter(({ id }) => id.startsWith('reward'))
  expect(finding).toMatchObject({ id: 'reward-falls', advice: expect.stringContaining('rl.final_share') })
  expect(finding!.what).toBe('the pass rate is 72% over the last 10 steps, down from 79% in steps 7 to 16')
})

it('does not mistake noise for a drop', () => {
  let alarms = 0
  const random = randomStream('chance')
  for (let training = 0; training < 200; training++) {
    const rows = Array.from({ length: 60 }, (_, at) => {
      const right = Array.from({ length: 256 }, () => random() % 100 < 70).filter(Boolean).length
      return { ...healthy(2)[0], step: at + 1, pass_rate: right / 256 }
    })
    if (ids(rows).includes('reward-falls')) alarms++
  }
  expect(alarms).toBeLessThanOrEqual(4)
})
