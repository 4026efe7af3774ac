import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openRun } from '../../src/store/index.ts'
import { coa, coaJson } from './coa.ts'

const cwd = mkdtempSync(join(tmpdir(), 'coa-practice-'))
afterAll(() => rmSync(cwd, { recursive: true }))

const set = (...pairs: string[]): string[] => pairs.flatMap((pair) => ['--set', pair])
const quick = set('sandbox.driver=pyodide', 'filter.min_interactions=0', 'filter.near_duplicates=false')

// Starts processes, possibly on a busy machine.
describe('preparing data for training', { timeout: 300_000 }, () => {
  it('mixes ReAct-style versions of the kept sequences into SFT', () => {
    coaJson(['teach', '--suites', 'math', '-n', '4', ...quick], { cwd })
    const made = coaJson<{ figures: Record<string, number> }>(['distill', 'latest', '--react'], { cwd })
    expect(made.figures).toMatchObject({ sequences: 4, 'ReAct-style': 4 })
    const kept = coaJson<{ figures: Record<string, number> }>(['filter', 'latest', ...quick], { cwd })
    // The filter does not count them as separate sequences.
    const { sequences, kept: chains } = kept.figures
    expect([sequences, chains! > 0]).toEqual([4, true])
    const mix = set('sft.react_share=0.5', 'sft.max_steps=1')
    const trained = coaJson<Record<string, number>>(['sft', 'latest', ...mix], { cwd })
    expect(trained).toMatchObject({
      'trained on': 2 * chains!,
      'ReAct-style': chains!,
      sequences: 2 * chains!,
      steps: 1,
    })
  })

  it('chooses tasks by pass rates, which are measured once', () => {
    const small = set(
      'sandbox.driver=pyodide',
      'rl.task_count=3',
      'rl.pass_rate_rollouts=2',
      'rollout.max_tokens=60',
      'rl.steps=1',
      'rl.groups=1',
      'rl.group_size=2',
      'rl.dynamic_sampling=false',
    )
    interface Queries {
      tasks: number
      kept: number
      rollouts: number
      rates: { taskId: string }[]
      reasons: { reason: string; count: number }[]
    }
    const queries = (...args: string[]) =>
      coaJson<Queries>(['filter', 'latest', '--queries', ...args, ...small], { cwd })
    const all = queries()
    expect([all.tasks, all.kept, all.rollouts, all.rates.length]).toEqual([3, 3, 6, 3])
    // 60 tokens are not enough for an answer.
    const none = queries('--pass-rate', '0.1,1')
    expect(none).toMatchObject({ kept: 0, rollouts: 0, reasons: [{ reason: 'never solved', count: 3 }] })
    const refused = coa(['rl', 'latest', ...small, '--set', 'rl.pass_rate=0.1,1'], { cwd })
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('3 × never solved')])
    const trained = coa(['rl', 'latest', ...small, ...set('rl.pass_rate=0,0.9', 'tasks.dev_count=1')], {
      cwd,
    })
    expect([trained.code, trained.stderr]).toEqual([0, expect.stringContaining('training on 3 of 3 tasks')])
    // Evaluated, so the best is kept: of equal weights the earliest.
    expect(trained.stdout).toMatch(/best accuracy +0\n +kept step +0\n/)
    using run = openRun(join(cwd, 'runs', readdirSync(join(cwd, 'runs'))[0]!))
    expect(run.count('pass-rate')).toBe(3)
    expect(run.count('rollout')).toBe(2)
  })
})
