import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Task, Verdict } from '../../src/schema/index.ts'
import { coa, coaJson } from './coa.ts'

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-cli-tasks-'))
})
afterAll(() => rmSync(cwd, { recursive: true }))

describe('tasks', () => {
  it('lists suites and benchmarks', () => {
    const { suites, benchmarks } = coaJson<Record<'suites' | 'benchmarks', { name: string }[]>>(
      ['tasks', 'list'],
      { cwd },
    )
    expect(suites.map(({ name }) => name)).toEqual(['math', 'search', 'code'])
    expect(benchmarks.map(({ name }) => name)).toContain('gsm8k')
  })

  it('generates the same tasks again, and does not overwrite a file', () => {
    const generate = [
      'tasks',
      'generate',
      'math',
      '-n',
      '5',
      '--level',
      '2..3',
      '--split',
      'dev',
      '--seed',
      '4',
    ]
    expect(coa([...generate, '-o', 'math.jsonl'], { cwd }).code).toBe(0)
    expect(readFileSync(join(cwd, 'math.jsonl'), 'utf8')).toBe(coa(generate, { cwd }).stdout)
    const again = coa([...generate, '-o', 'math.jsonl'], { cwd })
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('--force')
    const [first] = coaJson<Task[]>(['tasks', 'show', 'math.jsonl', '--first', '2'], { cwd })
    expect(first).toMatchObject({ suite: 'math', split: 'dev', level: 2 })
  })

  it("reads a user's files, and reports what is wrong with the wrong format", () => {
    writeFileSync(join(cwd, 'mine.csv'), 'problem,gold\n"What is 2 + 2?",4\n"And 3 + 3?",6\n')
    const mine = ['--map', 'question=problem,answer=gold', '--checker', 'math']
    expect(coaJson<Task[]>(['tasks', 'show', 'mine.csv', ...mine, '-n', 'all'], { cwd })).toHaveLength(2)
    expect(coa(['tasks', 'validate', 'mine.csv', ...mine], { cwd }).code).toBe(0)
    const wrong = coa(['tasks', 'show', 'mine.csv', '--format', 'hotpotqa'], { cwd })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('found problem, gold')
  })

  it('asks for consent before a download', () => {
    const refused = coa(['tasks', 'pull', 'gsm8k'], { cwd })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('License: MIT')
    expect(refused.stderr).toContain('--yes')
    expect(coa(['tasks', 'pull', 'gsm9k'], { cwd }).stderr).toContain('gsm8k')
    expect(coa(['tasks', 'show', 'gsm8k'], { cwd }).stderr).toContain('coa tasks pull gsm8k')
  })

  it('validates what it generates', () => {
    const report = coaJson<{ failed: number; tasks: number }>(
      ['tasks', 'validate', 'math', 'search', 'code', '-n', '3'],
      { cwd },
    )
    expect(report).toMatchObject({ failed: 0, tasks: 9 })
  })
})

describe('check', () => {
  it.each([
    [['0.75', '--gold', '\\frac{3}{4}', '--checker', 'math'], 'correct', 0],
    [['the beatles', '--gold', 'Beatles|The Fab Four'], 'correct', 0],
    [['Wings', '--gold', 'Beatles|The Fab Four'], 'wrong', 3],
    [['Wings', '--gold', 'Beatles', '--checker', 'judge'], 'undecided', 3],
  ] as const)('%j: %s', (args, outcome, code) => {
    const result = coa(['check', ...args, '--json'], { cwd })
    expect((JSON.parse(result.stdout) as Verdict).outcome).toBe(outcome)
    expect(result.code).toBe(code)
  })

  it('runs a program against the hidden tests of a task', () => {
    const [task] = coaJson<Task[]>(['tasks', 'show', 'code', '--first', '3'], { cwd })
    const { solution } = task!.meta['program'] as { solution: string }
    writeFileSync(join(cwd, 'solution.py'), solution)
    expect(
      coaJson<Verdict>(['check', '@solution.py', '--task', 'code', '--first', '3'], { cwd }).outcome,
    ).toBe('correct')
    const wrong = coa(['check', '-', '--task', 'code', '--first', '3'], { cwd, input: 'print("no")' })
    expect(wrong.code).toBe(3)
  })

  it('requires something to check against', () => {
    expect(coa(['check', '42'], { cwd }).stderr).toContain('--task or --gold')
  })
})
