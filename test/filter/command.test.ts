import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRun, openRun } from '../../src/store/index.ts'
import { openTasks } from '../../src/tasks/index.ts'
import { coa, coaJson } from '../cli/coa.ts'
import { makeSequence } from './make-sequence.ts'

interface Answer {
  alreadyDone: boolean
  dryRun: boolean
  folder: string
  figures: { sequences: number; kept: number; copies: number }
}

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-filter-cli-'))
  using run = createRun(join(cwd, 'runs'), { id: 'r', command: 'test', coa: '0.0.0' })
  run.append('sequence', makeSequence({ id: 'a', reflection: 'Fine.', checks: ['Score: 2', 'Score: 4'] }))
  run.append('sequence', makeSequence({ id: 'b', reflection: 'Fine.', calls: ['x'], suite: 'easy' }))
  run.append('sequence', makeSequence({ id: 'c', outcome: 'wrong' }))
})
afterAll(() => rmSync(cwd, { recursive: true }))

it('counts without writing, then writes, then has nothing to do', () => {
  const dry = coaJson<Answer>(['filter', 'r', '--dry-run'], { cwd })
  expect(dry).toMatchObject({ dryRun: true, figures: { sequences: 3, kept: 1, copies: 2 } })
  expect(existsSync(dry.folder)).toBe(false)
  {
    using run = openRun(join(cwd, 'runs/r'))
    expect(run.manifest.stages).toEqual({})
  }
  const { code, stdout } = coa(['filter', 'r'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(/complexity +2 +66.7% +1 +█/)
  expect(stdout).toContain('quality: wrong answer')
  expect(stdout).toContain('1 of 3 sequences kept (33.3%), 2 after upsampling 1 of them')
  expect(coaJson<Answer>(['filter', 'latest'], { cwd }).alreadyDone).toBe(true)
  using run = openRun(join(cwd, 'runs/r'))
  expect(run.manifest.stages['filter']).toMatchObject({ status: 'done', summary: { kept: 1, dropped: 2 } })
})

it('accepts thresholds as options and as settings', () => {
  const kept = (...options: string[]) =>
    coaJson<Answer>(['filter', 'r', '--dry-run', ...options], { cwd }).figures.kept
  expect(kept('--by-suite', 'easy=1')).toBe(2)
  expect(kept('--min-interactions', '6')).toBe(0)
  expect(kept('--set', 'filter.min_interactions=1', '--set', 'filter.near_duplicates=false')).toBe(2)
  expect(kept('--max-tokens', '100')).toBe(0)
})

it.each([
  [['filter', 'r', '--min-interactions', 'many'], 2, 'filter.min_interactions'],
  [['filter', 'r', '--by-suite', 'easy'], 2, 'it takes pairs such as name=value'],
  [['filter', 'r', '--against', 'mth'], 2, 'Did you mean math?'],
  [['filter', 'x'], 2, 'there is no run "x"'],
] as const)('%j ends with %i and says what to do', (args, code, words) => {
  const outcome = coa([...args], { cwd })
  expect(outcome.code).toBe(code)
  expect(outcome.stderr).toContain(words)
})

it('finds an evaluation question of a generated suite', async () => {
  const questions: string[] = []
  for await (const task of openTasks({ from: 'math', data: '', split: 'test', limit: 8 }))
    questions.push(task.question)
  {
    using run = openRun(join(cwd, 'runs/r'), { write: true })
    run.append('sequence', makeSequence({ id: 'd', reflection: 'Fine.', question: questions[7]! }))
  }
  const first = ['filter', 'r', '--against', 'math', '--set', 'filter.against_count=20']
  expect(coa(first, { cwd }).stdout).toContain('question is in math')
  expect(readFileSync(join(cwd, 'runs/r/filter/dropped.jsonl'), 'utf8')).toContain('"id":"d"')
})

it('fails with the reasons if nothing is kept', () => {
  const { code, stdout, stderr } = coa(['filter', 'r', '--min-interactions', '50'], { cwd })
  expect(code).toBe(2)
  expect(stdout).toMatch(/0 of \d sequences kept/)
  expect(stderr).toMatch(/none of the \d sequences was kept: \d × /)
  expect(coa(['filter', 'r', '--min-interactions', '50', '--dry-run'], { cwd }).code).toBe(0)
})
