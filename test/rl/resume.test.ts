import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openCheckpoint } from '../../src/engine/index.ts'
import { stepRows } from '../../src/stages/rl/diagnose.ts'
import { openRun } from '../../src/store/index.ts'
import { isFull } from '../how-many.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

const program = join(import.meta.dirname, 'killed-training.ts')

function start(
  folder: string,
  overlap: number,
  phase = '',
  at = 0,
): { signal: string | null; error: string } {
  const args = [program, folder, String(overlap), phase, String(at)]
  const { signal, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { signal, error: status === 0 ? '' : stderr }
}

/** Everything a training run leaves behind, except timings. */
function outcome(folder: string) {
  using run = openRun(folder)
  const isTimed = (name: string): boolean =>
    ['t', 'seconds', 'minutes', 'tokens_per_second'].includes(name) || name.startsWith('time/')
  return {
    rows: stepRows(run.metrics()).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !isTimed(name))),
    ),
    rollouts: [...run.scan('rollout')]
      .map(({ ms, ...rest }) => rest)
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
    weights: [3, 6].map((step) => openCheckpoint(join(folder, 'checkpoints', `rl-00000${step}`)).weights),
    checkpoints: ['rl-last', 'rl-best', 'rl'].map((id) => run.get('checkpoint', id)?.step),
    files: readdirSync(join(folder, 'checkpoints')).sort(),
  }
}

// The second kind of event is more frequent than steps: two updates per step, twelve rollouts or more.
const kills: [overlap: number, phase: string, at: number][] = [
  [0, 'sampling', 3],
  [0, 'sampling', 44],
  [0, 'pass', 6],
  [0, 'update', 9],
  [0, 'saving', 3],
  [0, 'saved', 2],
  [1, 'sampling', 44],
  [1, 'pass', 3],
  [1, 'update', 10],
]

describe('killed training that resumes', () => {
  const whole = new Map<number, ReturnType<typeof outcome>>()
  // Every phase without overlap once, and one kill with it; all of them with COA_TEST_FULL=1.
  for (const [overlap, phase, at] of isFull ? kills : kills.slice(1, 7)) {
    it(`gives the same result: ${phase} ${at}, overlap ${overlap}`, () => {
      if (!whole.has(overlap)) {
        const folder = join(temporaryFolder(), 'r')
        expect(start(folder, overlap)).toEqual({ signal: null, error: '' })
        whole.set(overlap, outcome(folder))
      }
      const folder = join(temporaryFolder(), 'r')
      expect(start(folder, overlap, phase, at).signal).toBe('SIGKILL')
      expect(start(folder, overlap)).toEqual({ signal: null, error: '' })
      const found = outcome(folder)
      expect(found.rows.length).toBe(6)
      expect(found.checkpoints).toEqual([6, 3, 3])
      expect(found.files).toEqual(['rl', 'rl-000003', 'rl-000006', 'rl-state.json'])
      // With overlap the timing decides which rollouts a step gets; that none is used twice is tested in overlap.test.ts.
      if (overlap === 0) expect(found).toEqual(whole.get(overlap))
      else
        for (const row of found.rows) {
          expect(row).toMatchObject({ groups_kept: 2, updates: 2 })
          expect(Number(row['staleness_max'])).toBeLessThanOrEqual(overlap)
        }
    })
  }
})
