import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { coaJson } from './coa.ts'

const cwd = mkdtempSync(join(tmpdir(), 'coa-practice-'))
afterAll(() => rmSync(cwd, { recursive: true }))

const set = (...pairs: string[]): string[] => pairs.flatMap((pair) => ['--set', pair])
const quick = set('sandbox.driver=pyodide', 'filter.min_interactions=0', 'filter.near_duplicates=false')

// Real processes, on a machine that may be busy.
describe('before and between the trainings', { timeout: 300_000 }, () => {
  it('ReAct-style sequences of the kept chains are mixed into SFT', () => {
    coaJson(['teach', '--suites', 'math', '-n', '4', ...quick], { cwd })
    const made = coaJson<{ figures: Record<string, number> }>(['distill', 'latest', '--react'], { cwd })
    expect(made.figures).toMatchObject({ sequences: 4, 'ReAct-style': 4 })
    const kept = coaJson<{ figures: Record<string, number> }>(['filter', 'latest', ...quick], { cwd })
    // The filter does not take them for chains of their own.
    const { sequences, kept: chains } = kept.figures
    expect([sequences, chains! > 0]).toEqual([4, true])
    const mix = set('sft.react_share=0.5', 'sft.max_steps=1')
    const trained = coaJson<Record<string, number>>(['sft', 'latest', ...mix], { cwd })
    expect(trained).toMatchObject({ 'trained on': 2 * chains!, sequences: 2 * chains!, steps: 1 })
  })
})
