import { describe, expect, it } from 'vitest'
import { stepRows } from '../../src/stages/rl/diagnose.ts'
import { bandit, base, chances } from './train-bandit.ts'

describe('a bandit with sixteen arms', () => {
  for (const algorithm of ['dapo', 'grpo', 'gspo', 'cispo', 'reinforce++', 'ppo'] as const) {
    it(`is solved by ${algorithm}`, async () => {
      const { engine, run, train: go } = await bandit({ ...base, algorithm, partial: true })
      const before = await chances(engine)
      for (const chance of before) expect(chance).toBeLessThan(0.2)
      await go()
      const after = await chances(engine)
      for (const chance of after) expect(chance).toBeGreaterThan(0.9)
      const rows = stepRows(run.metrics())
      // With dynamic sampling, training may stop earlier, when too few groups differ.
      const least = algorithm === 'dapo' || algorithm === 'cispo' ? 10 : 39
      expect(rows.length).toBeGreaterThan(least)
      expect(Number(rows.at(-1)!['mismatch_mean'])).toBeLessThan(1e-3)
    })
  }
})
