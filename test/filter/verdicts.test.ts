import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { type FilterContext, run as runFilter } from '../../src/stages/filter/index.ts'
import { createRun, type Run, readSelection } from '../../src/store/index.ts'
import { makeSequence, type Shape } from './make-sequence.ts'

let folder: string
let run: Run
let count = 0
const unlike = () => Array.from({ length: 60 }, () => `w${count++}`).join(' ')
const question = 'How many lamps does the second tower of Osk harbour have?'
const shapes: Shape[] = [
  { id: 'good', reflection: 'Fine.' },
  { id: 'wrong', outcome: 'wrong' },
  { id: 'known', reflection: 'Fine.', question },
]
const filter = { keep_unreflected: 0 }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-filter-'))
  run = createRun(folder, { id: 'r', command: 'test', coa: '0.0.0' })
  for (const shape of shapes) run.append('sequence', makeSequence({ thought: unlike(), ...shape }))
})
afterEach(() => {
  run.close()
  rmSync(folder, { recursive: true })
})

const quiet: Pick<FilterContext, 'signal' | 'observe'> = {
  signal: new AbortController().signal,
  observe: () => {},
}
const config = (section: Record<string, unknown> = {}) => ProjectConfig.parse({ filter: section })
const selected = () =>
  Object.fromEntries([...readSelection(run)].map(({ sequence, weight }) => [sequence.id, weight]))

describe('verdicts and held-out questions', () => {
  it('reports unchecked answers apart from wrong ones, and keeps them if asked to', async () => {
    run.append(
      'sequence',
      makeSequence({ id: 'new', outcome: 'unchecked', reflection: 'Fine.', thought: unlike() }),
    )
    const { funnel, figures } = await runFilter(config(filter), { run, ...quiet })
    expect(figures).toMatchObject({ unchecked: 1 })
    expect(funnel.reasons).toMatchObject([
      { reason: 'wrong answer', count: 1 },
      { reason: 'unchecked', count: 1, examples: [{ id: 'new' }] },
    ])
    const { figures: after } = await runFilter(config({ ...filter, unchecked: 'keep' }), { run, ...quiet })
    expect(after).toMatchObject({ unchecked: 1, kept: figures['kept']! + 1 })
    expect(Object.keys(selected())).toContain('new')
  })

  it("by default compares with the test questions of the project's sources and with the run's evaluation tasks", async () => {
    const own = join(folder, 'own.jsonl')
    const rows = ['train', 'test'].map((split) =>
      JSON.stringify({ split, question: `${question} ${split}`, answer: 'x' }),
    )
    writeFileSync(own, rows.join('\n'))
    const reasons = async (suites: unknown[], section = {}) => {
      const found: string[] = []
      const settings = ProjectConfig.parse({ filter: { ...filter, ...section }, tasks: { suites } })
      const { funnel } = await runFilter(settings, { run, ...quiet, onFinding: (text) => found.push(text) })
      const of = funnel.reasons.filter(({ stage }) => stage === 'contamination')
      return [...of.map(({ reason, examples }) => `${reason}: ${examples.map(({ id }) => id)}`), ...found]
    }
    expect(await reasons([own])).toEqual([`question is in ${own}:test: known`])
    expect(await reasons([own], { against: [] })).toEqual([])
    // What cannot be read is said, not fatal: the tasks may have been there when they were given to the team.
    expect(await reasons([join(folder, 'gone.jsonl')])).toEqual([
      expect.stringContaining('training data is not compared with'),
    ])
    const task = {
      v: 1 as const,
      suite: 's',
      domain: 'web',
      gold: { checker: 'exact' as const, answers: ['7'] },
    }
    run.append('task', { ...task, id: 'e', question, meta: { for: 'eval' } })
    expect(await reasons(['math'])).toEqual(["question is in the run's evaluation tasks: known"])
  })

  it('with one sequence per task, keeps the attempt that a comparison found best', async () => {
    for (const [at, score] of [0.6, 0.9, 0.7].entries()) {
      const made = makeSequence({ id: `c${at}`, taskId: 'c', reflection: 'Fine.', thought: unlike() })
      run.append('sequence', { ...made, verdict: { ...made.verdict!, checker: 'relative-judge', score } })
    }
    await runFilter(config({ ...filter, per_task: 1 }), { run, ...quiet })
    expect(Object.keys(selected()).filter((id) => /^c\d$/.test(id))).toEqual(['c1'])
  })
})
