import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { howMany } from '../../../../test/how-many.ts'
import { checkAnswer } from '../../../reward/index.ts'
import { Task } from '../../../schema/index.ts'
import { openSandbox, type Sandbox } from '../../../world/sandbox/index.ts'
import { families } from './families/index.ts'
import { codeSuite } from './index.ts'
import { pythonValue } from './python-text.ts'
import { comparable, stdinOf, stdoutOf } from './standard-io.ts'

const testsOf = ({ gold }: Task) => (gold.checker === 'code' ? gold.tests : [])

const requests = fc.record({
  seed: fc.integer({ min: 0, max: 1_000_000 }),
  split: fc.constantFrom('train' as const, 'dev' as const, 'test' as const),
  index: fc.nat(1_000_000),
  level: fc.integer({ min: 1, max: 5 }),
})

let sandbox: Sandbox
beforeAll(async () => {
  // Stays warm, so it is by far the fastest for many short programs.
  sandbox = await openSandbox({ driver: 'pyodide' })
})
afterAll(() => sandbox.close())

describe('code tasks', () => {
  test('match the schema, are reproducible, and have tests, examples and bugs', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const task = codeSuite.generate(request)
        expect(Task.parse(task)).toEqual(task)
        expect(codeSuite.generate(request)).toEqual(task)
        expect(codeSuite.program.parse(task.meta.program)).toEqual(task.meta.program)
        expect(task.id).toBe(`code-${request.split}-${request.seed}-${request.index}`)
        const tests = testsOf(task)
        expect(tests.length).toBeGreaterThanOrEqual(6)
        expect(tests.length).toBeLessThanOrEqual(12)
        expect(new Set(tests.map((one) => JSON.stringify(one))).size).toBe(tests.length)
        const { solution, bugs, examples, style, stages } = task.meta.program
        expect(new Set(tests.map((one) => one.style))).toEqual(new Set([style]))
        expect(new Set([solution, ...bugs.map(({ code }) => code)]).size).toBe(bugs.length + 1)
        expect([1, 2, 3]).toContain(bugs.length)
        expect([1, 2]).toContain(examples.length)
        expect(stages.length).toBeGreaterThan(0)
        for (const one of tests)
          if (one.style === 'functional') expect(task.question).toContain(`\`${one.entry}(`)
        expect(task.question.split('\n\nExample')[0]).not.toMatch(/undefined|NaN|\{\w+\}| {2}/)
        expect(solution).not.toMatch(/undefined|\{(?!\}|'|\()/)
      }),
      { numRuns: howMany(2_000) },
    )
  })

  test('cover all families, read standard input in a quarter of the cases, and get harder with the level', () => {
    const tasks = Array.from({ length: 3_000 }, (_, index) =>
      codeSuite.generate({ seed: 3, split: 'train', index }),
    )
    const met = new Set(tasks.map((task) => task.meta.program.family))
    expect([...met].sort()).toEqual(families.map(({ name }) => name).sort())
    expect(met.size).toBeGreaterThanOrEqual(25)
    const share = tasks.filter((task) => task.meta.program.style === 'stdio').length / tasks.length
    expect(share).toBeGreaterThan(0.2)
    expect(share).toBeLessThan(0.3)
    const stages = [1, 2, 3, 4, 5].map((level) => {
      const counts = tasks
        .filter((task) => task.level === level)
        .map((task) => task.meta.program.stages.length)
      return counts.reduce((sum, count) => sum + count, 0) / counts.length
    })
    expect(stages).toEqual([...stages].sort((left, right) => left - right))
  })

  test('the same specification never occurs in two splits', () => {
    const splits = new Map<string, string>()
    for (const split of ['train', 'dev', 'test'] as const) {
      for (let index = 0; index < 1_000; index++) {
        const { question } = codeSuite.generate({ seed: index % 3, split, index, level: 1 + (index % 2) })
        const key = question.split('\n\nExample')[0]!
        expect([undefined, split]).toContain(splits.get(key))
        splits.set(key, split)
      }
    }
  })

  test('of every family have a solution that the checker accepts and bugs that it rejects', async () => {
    const byFamily = new Map<string, ReturnType<typeof codeSuite.generate>>()
    for (let index = 0; byFamily.size < families.length; index++) {
      const task = codeSuite.generate({ seed: 11, split: 'test', index })
      if (!byFamily.has(task.meta.program.family)) byFamily.set(task.meta.program.family, task)
    }
    const faults = await Promise.all(
      [...byFamily].map(async ([family, task]) => {
        const accepted = await checkAnswer(task.gold, task.meta.program.solution, { sandbox })
        const refused = await Promise.all(
          task.meta.program.bugs.map(({ code }) => checkAnswer(task.gold, code, { sandbox })),
        )
        const outcomes = [accepted.outcome, ...refused.map(({ outcome }) => outcome)]
        return outcomes.join(' ') === ['correct', ...refused.map(() => 'wrong')].join(' ')
          ? []
          : [family, outcomes]
      }),
    )
    expect(faults.flat()).toEqual([])
  })
})

test('values in questions are in Python notation', () => {
  expect(pythonValue([[1, -2], ['a b', ''], true, null])).toBe("[[1, -2], ['a b', ''], True, None]")
})

test('values on standard input and output have the format in the question', () => {
  const parameters = [
    { name: 'rows', type: 'rows' },
    { name: 'names', type: 'strs' },
    { name: 'values', type: 'ints' },
  ] as const
  expect(stdinOf(parameters, [[[1, 2], [3]], ['x', ''], []])).toBe('2\n1 2\n3\n2\nx\n\n\n')
  expect(stdoutOf('strs', ['a', 'b'])).toBe('a\nb\n')
  expect(stdoutOf('pairs', [[1, 2]])).toBe('1 2\n')
  expect(stdoutOf('ints', [])).toBe('\n')
  expect(comparable('a \n\n')).toBe(comparable('a'))
  expect(comparable(' a')).not.toBe(comparable('a'))
})
