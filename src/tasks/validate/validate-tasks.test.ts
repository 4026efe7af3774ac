import { describe, expect, test } from 'vitest'
import { pythonRunner } from '../../../test/reward/python-runner.ts'
import type { Progress } from '../../base/progress/index.ts'
import type { Gold, Task } from '../../schema/index.ts'
import type { JudgeModel } from '../../world/judge/index.ts'
import { suites } from '../suites/index.ts'
import { validateTasks } from './index.ts'

let count = 0
const task = (gold: Gold, more: Partial<Task> = {}): Task => ({
  v: 1,
  id: `made:${++count}`,
  suite: 'made',
  domain: 'math',
  question: 'q',
  gold,
  meta: {},
  ...more,
})
const exact = (...answers: string[]) => task({ checker: 'exact', answers })
const math = (answer: string) => task({ checker: 'math', answer })
const code = (tests: Extract<Gold, { checker: 'code' }>['tests'], meta: Task['meta'], setup?: string) =>
  task({ checker: 'code', tests, ...(setup === undefined ? {} : { setup }) }, { suite: 'programs', meta })

describe('text and number answers', () => {
  test('are accepted and others rejected, counted by suite and checker', async () => {
    const tasks = [
      exact('Elm', 'the river Elm'),
      exact('elm'),
      exact('Oak|Ash'),
      math('1,200'),
      math('\\frac{3}{4}'),
      math('x+1'),
    ]
    const report = await validateTasks(tasks)
    expect(report).toMatchObject({ tasks: 6, failed: 0, failures: [], notChecked: {} })
    expect(report.suites).toEqual([
      {
        suite: 'made',
        checker: 'exact',
        tasks: 3,
        right: { correct: 4, wrong: 0, undecided: 0 },
        wrong: { correct: 0, wrong: 3, undecided: 0 },
      },
      {
        suite: 'made',
        checker: 'math',
        tasks: 3,
        right: { correct: 6, wrong: 0, undecided: 0 },
        wrong: { correct: 0, wrong: 3, undecided: 0 },
      },
    ])
  })

  test('rejected by their own checker are listed with the evidence', async () => {
    const broken = exact('   ')
    const report = await validateTasks([broken, exact('Elm')])
    expect(report.failed).toBe(1)
    expect(report.failures).toEqual([
      { id: broken.id, suite: 'made', answer: 'right', outcome: 'wrong', evidence: 'there is no answer' },
    ])
    const secret = { ...broken, meta: { memoryOnly: true } }
    expect((await validateTasks([secret])).failures[0]?.evidence).toBe(
      'not shown: its texts are kept in memory only',
    )
  })
})

describe('programs', () => {
  const double = { solution: 'def double(n):\n    return 2 * n\n' }
  const tasks = [
    code([{ style: 'assert', code: 'assert double(2) == 4' }], double),
    code([{ style: 'assert', code: 'for n in range(3):\n    assert double(n) == 2 * n' }], double),
    code([{ style: 'functional', entry: 'double', args: [2], expected: 4 }], double),
    code([{ style: 'functional', entry: 'f', args: [2], expected: [2] }], {
      solution: 'class Solution:\n    def f(self, n): return [n]',
    }),
    code([{ style: 'stdio', stdin: '2\n', stdout: '4\n' }], { solution: 'print(2 * int(input()))' }),
    suites.get('code')!.generate({ seed: 1, split: 'train', index: 0 }),
    // This test does not notice a changed result, only a missing function.
    code([{ style: 'assert', code: 'assert double(2)' }], double),
    code(
      [{ style: 'assert', code: 'def check(candidate):\n    assert candidate(1) == 2\n\ncheck(inc)' }],
      { solution: 'def inc(n):\n    """ More. """\n    return n + 1\n' },
      'def inc(n):\n    """ More. """\n',
    ),
  ]

  test('pass with their reference solution and fail with a changed one', async () => {
    const report = await validateTasks(tasks, { sandbox: pythonRunner })
    expect(report.failures).toEqual([])
    expect(report.suites).toMatchObject([
      { suite: 'programs', tasks: 7, right: { correct: 7 }, wrong: { wrong: 7 } },
      { suite: 'code', tasks: 1, right: { correct: 1 }, wrong: { wrong: 1 } },
    ])
  })

  test('with a wrong reference solution are found', async () => {
    const wrong = code([{ style: 'assert', code: 'assert double(2) == 5' }], double)
    const weak = code([{ style: 'stdio', stdin: '', stdout: '' }], {})
    const report = await validateTasks([wrong, weak], { sandbox: pythonRunner, concurrency: 1 })
    expect(report.failures).toMatchObject([
      { id: wrong.id, answer: 'right', outcome: 'wrong', evidence: expect.stringContaining('got 4') },
      { id: weak.id, answer: 'wrong', outcome: 'correct' },
    ])
  })

  test('are counted as not checked without a reference solution or sandbox', async () => {
    const bare = code([{ style: 'assert', code: 'assert double(2) == 4' }], {})
    expect(await validateTasks([bare], { sandbox: pythonRunner })).toMatchObject({
      failed: 0,
      notChecked: { 'has no reference solution': 1 },
      suites: [{ wrong: { wrong: 1 } }],
    })
    expect(await validateTasks([bare])).toMatchObject({ failed: 0, notChecked: { 'needs a sandbox': 1 } })
  })
})

describe('answers that need a judge', () => {
  const judged = ['In May.', 'In June.'].map((answer) => task({ checker: 'judge', answer }))

  test('are counted as not checked without a judge, and checked with one', async () => {
    expect(await validateTasks(judged)).toMatchObject({
      tasks: 2,
      failed: 0,
      notChecked: { 'needs a judge': 2 },
    })
    const block = (text: string, name: string) =>
      new RegExp(`<<${name} \\w+>>\\n([\\s\\S]*?)\\n<<end`).exec(text)?.[1]
    const judge: JudgeModel = async ({ user }) =>
      JSON.stringify({
        verdict: block(user, 'reference') === block(user, 'answer') ? 'correct' : 'incorrect',
      })
    expect(await validateTasks(judged, { judge })).toMatchObject({
      failed: 0,
      notChecked: {},
      suites: [{ right: { correct: 2 }, wrong: { wrong: 2 } }],
    })
  })
})

test('validates a stream of tasks in parallel and reports progress', async () => {
  async function* stream() {
    for (let n = 0; n < 50; n++) yield math(String(n))
  }
  const seen: Progress[] = []
  const report = await validateTasks(stream(), {
    concurrency: 4,
    total: 50,
    observe: (progress) => seen.push(progress),
  })
  expect(report).toMatchObject({ tasks: 50, failed: 0 })
  expect(seen.at(-1)).toEqual({ stage: 'validate', done: 50, total: 50, unit: 'tasks' })
})

test('stops when aborted', async () => {
  const signal = AbortSignal.abort(new Error('aborted'))
  await expect(validateTasks([math('1')], { signal })).rejects.toThrow('aborted')
})
