import { expect, test } from 'vitest'
import { comparisonOf } from './comparison.ts'
import { comparisonSection } from './comparison-section.ts'

const report = {
  suites: [{ suite: 'math', tasks: 200 }, { suite: 'search', tasks: 100 }], // biome-ignore format: one line
  solvers: [
    {
      name: 'team',
      accuracy: { strict: { value: 0.9, low: 0.86, high: 0.93 }, decided: null },
      tokens: { once: { value: 1000, low: 1, high: 2 } },
      tokensPerSuccess: { once: { value: 1111, low: 1, high: 2 } },
      calls: { value: 4, low: 1, high: 2 },
      ms: { value: 500, low: 1, high: 2 },
    },
    {
      name: 'base',
      accuracy: { strict: { value: 0, low: 0, high: 0.02 }, decided: null },
      tokens: { once: { value: 300, low: 1, high: 2 } },
      tokensPerSuccess: { once: null },
      calls: { value: 0, low: 1, high: 2 },
      ms: { value: 100, low: 1, high: 2 },
    },
  ],
}

test("an evaluation's report becomes a comparison", () => {
  const { rows, tasks } = comparisonOf(report)!
  expect(tasks).toBe(300)
  expect(rows[0]).toEqual({
    solver: 'team',
    accuracy: 0.9,
    interval: [0.86, 0.93],
    tokensPerTask: 1000,
    tokensPerSolved: 1111,
    callsPerTask: 4,
    secondsPerTask: 0.5,
  })
  expect(rows[1]!.tokensPerSolved).toBeNull()
})

test.each([undefined, {}, { solvers: [] }, { v: 1, solver: 'x', items: [], metrics: {} }])(
  'what is none is not taken for one: %j',
  (other) => expect(comparisonOf(other)).toBeUndefined(),
)

test('savings are relative to the first solver, and only shown if both solved something', () => {
  const { rows } = comparisonOf(report)!
  const better = { ...rows[0]!, solver: 'rl', tokensPerSolved: 111.1 }
  const section = comparisonSection({ rows: [...rows, better] })!.text
  expect(section.match(/class="change"/g)).toHaveLength(1)
  expect(section).toContain('90.0% fewer')
  expect(comparisonSection({ rows: [] })).toBeUndefined()
})
