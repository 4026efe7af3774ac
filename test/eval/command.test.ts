import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EvalReport } from '../../src/schema/index.ts'
import { coa, coaJson } from '../cli/coa.ts'

interface Answer {
  run: string
  dir: string
  report: EvalReport
  files: { json: string; markdown: string; page: string }
}

const quick = [
  '--set',
  'sandbox.driver=pyodide',
  '--set',
  'rollout.max_tokens=40',
  '--set',
  'eval.resamples=100',
]
let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-eval-cli-'))
  expect(
    coa(['model', 'new', 'tiny', '--width', '32', '--layers', '1', '--context', '4096'], { cwd }).code,
  ).toBe(0)
})
afterAll(() => rmSync(cwd, { recursive: true }))

it('compares a team with a model on the same tasks, and resumes the same run', () => {
  const args = ['compare', 'math', '--model', 'base=tiny', '-n', '3', '--level', '1', ...quick]
  const { run, report, files } = coaJson<Answer>(args, { cwd })
  const [team, model] = report.solvers
  expect(team).toMatchObject({
    name: 'manager-careful',
    kind: 'scripted team',
    counts: { attempts: 3, correct: 3 },
  })
  expect(model).toMatchObject({ name: 'base', kind: 'model', counts: { attempts: 3, correct: 0, wrong: 3 } })
  expect(team!.tokenizer).toBe(model!.tokenizer)
  expect(report.pairs[0]).toMatchObject({ isEqualOrBetter: false, outcomes: { onlyReference: 3 } })
  expect(report.pairs[0]!.p).toBeCloseTo(0.25, 12)
  expect(report.pairs[0]!.saved.billed!.value).toBeGreaterThan(report.pairs[0]!.saved.once!.value)
  const page = readFileSync(files.page, 'utf8')
  expect(page).toContain('The team is scripted')
  expect(page).not.toMatch(/https?:|<script|src=/)
  const again = coa(args, { cwd })
  expect(again.code).toBe(0)
  expect(again.stdout).toMatch(/base needs .* fewer tokens than manager-careful but at lower accuracy/)
  expect(again.stdout).toContain(run)
  expect(JSON.parse(readFileSync(files.json, 'utf8'))).toMatchObject(report)
})

it('evaluates all named models, each under its own name', () => {
  const args = ['eval', 'math', '--model', 'one=tiny', '--model', 'other=tiny', '-n', '1', ...quick]
  const { report } = coaJson<Answer>(args, { cwd })
  expect(report.solvers.map(({ name, tasks }) => [name, tasks])).toEqual([
    ['one', 1],
    ['other', 1],
  ])
})

it('merges shards into one report, and compares with another run', () => {
  const args = ['eval', 'math', '--model', 'tiny', '-n', '4', ...quick]
  const whole = coaJson<Answer>([...args, '--run', 'whole'], { cwd })
  for (const part of ['1', '2']) coaJson([...args, '--shard', `${part}/2`, '--run', `part-${part}`], { cwd })
  const joined = coaJson<Answer>(['eval', '--merge', 'part-2', 'part-1', '--run', 'joined'], { cwd })
  const timeless = ({ report: { solvers, ...rest } }: Answer) => ({
    ...rest,
    solvers: solvers.map(({ ms: _, ...solver }) => solver),
  })
  expect(timeless(joined)).toEqual(timeless(whole))
  const against = coaJson<Answer>(
    [
      'eval',
      'math',
      '--plain',
      '--model',
      'tiny',
      '-n',
      '4',
      '--against',
      'whole',
      '--set',
      'eval.max_tokens=8',
      ...quick,
    ],
    { cwd },
  )
  expect(against.report.solvers.map(({ name }) => name)).toEqual(['tiny@whole', 'plain tiny'])
  expect(against.report.pairs[0]).toMatchObject({ reference: 'tiny@whole', solver: 'plain tiny' })
})

it.each([
  [['eval', 'math'], 2, 'no solver given'],
  [['eval', 'math', '--team', '--model', 'tiny'], 2, 'more than one kind of solver given'],
  [['eval', '--model', 'tiny'], 2, 'no tasks given'],
  [['eval', 'math', '--model', 'nowhere'], 2, 'there is no model "nowhere"'],
  [['eval', 'math', '--plain'], 2, 'Set eval.base_url and eval.model'],
  [['eval', 'math', '--team', '--shard', '3'], 2, 'Write it as 2/4'],
  [['eval', 'math', '--team', '--picker', 'coin'], 2, 'eval.picker is invalid'],
  [['compare', 'math'], 2, 'no model given'],
  [['compare', 'math', '-m', 'tiny', '-m', 'tiny'], 2, 'two solvers are called tiny'],
] as const)('%j ends with %i and says what to do', (args, code, words) => {
  const before = readdirSync(join(cwd, 'runs'))
  const outcome = coa([...args], { cwd })
  expect(outcome.stderr).toContain(words)
  expect(outcome.code).toBe(code)
  expect(readdirSync(join(cwd, 'runs'))).toEqual(before)
})
