import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ownModel } from '../../src/settings/index.ts'
import { recordRun } from '../../src/stages/teach/index.ts'
import { createRun } from '../../src/store/index.ts'
import { coa, coaJson } from './coa.ts'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-own-'))
  const rows = Array.from({ length: 6 }, (_, at) => ({
    id: at,
    question: `What is ${at} + 1?`,
    answer: `${at + 1}`,
    split: at < 3 ? 'train' : 'test',
  }))
  writeFileSync(join(cwd, 'mine.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'))
  expect(coa(['init', '.'], { cwd }).code).toBe(0)
  rmSync(join(cwd, 'coa.toml'))
})
afterAll(() => rmSync(cwd, { recursive: true }))

const runs = (): string[] => (existsSync(join(cwd, 'runs')) ? readdirSync(join(cwd, 'runs')) : [])

it('a team that cannot solve any of the tasks fails with the reason and leaves no run', () => {
  const { code, stderr } = coa(['teach', '--suites', 'mine.jsonl', '-n', '5'], { cwd })
  expect(code).toBe(2)
  expect(stderr).toContain('there is no scripted expert for tasks from mine')
  expect(stderr).toContain('checked by value: math')
  expect(coa(['teach', '--topology', 'managr', '--suites', 'mine.jsonl'], { cwd }).code).toBe(2)
  expect(runs()).toEqual([])
})

it('an unreachable teacher fails the stage with the reason, and the run can be resumed', () => {
  const teacher = [
    '--mind',
    'model',
    '--set',
    'teacher.base_url=http://127.0.0.1:9/v1',
    '--set',
    'teacher.model=x',
  ]
  const args = ['teach', '--suites', 'mine.jsonl', ...teacher, '--set', 'teacher.retries=0']
  const { code, stderr } = coa(args, { cwd })
  expect(code).toBe(5)
  expect(stderr).toMatch(/all 3 runs of the team failed: 3 × .*127\.0\.0\.1:9/)
  const [run] = runs()
  // Failed runs are retried.
  expect(coa(['teach', run!, ...teacher, '--set', 'teacher.retries=0'], { cwd }).code).toBe(5)
  expect(coa(['distill', run!], { cwd }).stderr).toMatch(/all 3 team runs failed: 3 × /)
  rmSync(join(cwd, 'runs'), { recursive: true })
})

it('if all recorded agents failed, the next command fails', async () => {
  {
    using run = createRun(join(cwd, 'runs'), { id: 'mine', command: 'mine', coa: '0' })
    for (const id of ['a', 'b'])
      run.append(
        'trajectory',
        await recordRun({ id, taskId: id, team: 'mine', question: 'q' }, () => {
          throw new Error('Unsupported model version v4')
        }),
      )
  }
  const { code, stderr } = coa(['distill', 'latest'], { cwd })
  expect([code, stderr]).toEqual([5, expect.stringContaining('2 × Unsupported model version v4')])
  expect(coa(['rl', 'latest'], { cwd }).stderr).toContain('recorded without its tasks')
  rmSync(join(cwd, 'runs'), { recursive: true })
})

it('an unknown grammar is an error before any work is done', () => {
  for (const command of ['eval', 'rollout']) {
    const { code, stderr } = coa([command, 'mine.jsonl', '--model', 'nano', '--domain', 'orders'], { cwd })
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is no grammar or file named "orders"')])
  }
  expect(runs()).toEqual([])
})

it("the project's grammar is used for tasks that name no grammar, or name this one", () => {
  const quick = [
    '--set',
    'language.grammar=grammar.toml',
    '--set',
    'rollout.max_tokens=300',
    '--set',
    'sandbox.driver=pyodide',
  ]
  const named = {
    v: 1,
    id: 'a',
    suite: 'a',
    domain: 'support',
    split: 'test',
    question: 'q',
    gold: { checker: 'math', answer: '1' },
    meta: {},
  }
  writeFileSync(join(cwd, 'named.jsonl'), JSON.stringify(named))
  const { report, run } = coaJson<{ run: string; report: { solvers: { counts: object }[] } }>(
    ['eval', 'mine.jsonl', 'named.jsonl', '--model', 'nano', ...quick],
    { cwd },
  )
  expect(report.solvers[0]!.counts).toMatchObject({ attempts: 4, failed: 0 })
  const { stdout } = coa(['run', 'show', run, '--kind', 'rollout', '--jsonl'], { cwd })
  for (const line of stdout.trim().split('\n')) expect(JSON.parse(line).grammar).toBe('support')
})

it('a model is not evaluated on the tasks that its run trained it on', () => {
  const model = join('runs', 'trained', 'checkpoints', 'rl')
  {
    using run = createRun(join(cwd, 'runs'), { id: 'trained', command: 'mine', coa: '0' })
    run.append('task', {
      v: 1,
      id: 'other',
      suite: 'other',
      domain: 'math',
      question: 'what is  3 + 1',
      gold: { checker: 'math', answer: '4' },
      meta: {},
    })
  }
  cpSync(ownModel('nano')!, join(cwd, model), { recursive: true })
  const { code, stderr } = coa(['eval', 'mine.jsonl', '--model', model], { cwd })
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('1 of the 3 held-out tasks is trained on too: mine:3'),
  ])
})
