import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRun, openRun } from '../../src/store/index.ts'
import { coa, coaJson } from '../cli/coa.ts'
import { randomRun } from './random-run.ts'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-distill-cli-'))
  using run = createRun(join(cwd, 'runs'), { id: 'r', command: 'test', coa: '0.0.0' })
  const samples = fc.sample(randomRun, { numRuns: 20, seed: 1 })
  run.appendMany(
    'trajectory',
    samples.map(({ trajectory }, index) => ({ ...trajectory, id: `run-${index}` })),
  )
})
afterAll(() => rmSync(cwd, { recursive: true }))

// Real processes, possibly on a busy machine.
describe('coa distill', { timeout: 60_000 }, () => {
  it('counts without writing, then writes, then has nothing left to do', () => {
    const figures = (args: string[]) => coaJson<{ figures: Record<string, number> }>(args, { cwd }).figures
    expect(figures(['distill', 'r', '--dry-run'])['sequences']).toBe(20)
    const made = figures(['distill', 'latest'])
    expect(made['sequences']).toBe(20)
    expect(made['within the grammar']! + made['with problems']!).toBe(20)
    expect(figures(['distill', 'r'])).toMatchObject({ sequences: 0, 'already distilled': 20 })
    using run = openRun(join(cwd, 'runs', 'r'))
    expect(run.manifest.stages['distill']).toMatchObject({ status: 'done' })
    expect(run.count('sequence')).toBe(20)
  })

  it('cuts what --strip matches, and shows how often and what', () => {
    const strip = ['distill', 'r', '--again', '--dry-run', '--strip', 'was said', '--strip', 'Score: [0-9]']
    const { voice } = coaJson<{ voice: { rule: string; count: number; examples: string[] }[] }>(strip, {
      cwd,
    })
    expect(voice).toContainEqual({ rule: 'cut: was said', count: expect.any(Number), examples: ['was said'] })
    const { stdout } = coa(strip, { cwd })
    expect(stdout).toMatch(/\d+\s+cut: was said\s+was said/)
    expect(coa(['distill', 'r', '--strip', '('], { cwd }).code).toBe(2)
  })

  it('explains a run within 100 columns, by trajectory or sequence id', () => {
    const { code, stdout } = coa(['distill', 'explain', 'r', 'run-3'], { cwd })
    expect(code).toBe(0)
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(stdout).toContain('planner: plan')
    expect(coa(['distill', 'explain', 'r', 'distilled-run-3'], { cwd }).stdout).toBe(stdout)
    const { rows } = coaJson<{ rows: unknown[] }>(['distill', 'explain', 'r', 'run-3'], { cwd })
    expect(rows.length).toBeGreaterThan(5)
  })

  it('says what to do about an unknown id or rule', () => {
    const { code, stderr } = coa(['distill', 'explain', 'r', 'run-33x'], { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining('Give an id such as "run-')])
    expect(coa(['distill', 'r', '--map', 'critic=reflexion'], { cwd }).stderr).toContain(
      'Did you mean "reflection"?',
    )
  })
})
