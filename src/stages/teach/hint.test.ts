import { expect, it } from 'vitest'
import { read } from '../../../test/tasks/read-fixture.ts'
import type { Task } from '../../schema/index.ts'
import { hintOf, solutionOf } from './hint.ts'

const gold = { checker: 'math', answer: '24' } as const
const hint = (meta: Task['meta'], checked: Task['gold'] = gold) => hintOf({ meta, gold: checked })

it('has the annotated solution of GSM8K, without notes for a calculator', async () => {
  const answer = 'In May: 48/2 = <<48/2=24>>24 clips.\n#### 24'
  const { tasks } = await read('gsm8k', [{ question: 'How many clips?', answer }])
  const text = hintOf(tasks[0]!)
  expect(text).toContain('In May: 48/2 = 24 clips.\n#### 24\n')
  expect(text).not.toContain('<<')
})

it('leaves programs as they are', () => {
  const solution = 'def f(n):\n  return (1 << n) == n >> 2'
  const tests = [{ style: 'assert' as const, code: 'assert f(1)' }]
  expect(hint({ solution }, { checker: 'code', tests })).toContain(solution)
})

it('is missing where a task has no solution', () => {
  for (const solution of [undefined, null, 3, ' ', ['x = 1']]) {
    const meta = solution === undefined ? {} : { solution }
    expect(solutionOf({ meta })).toBeUndefined()
    expect(hint(meta)).toBeUndefined()
  }
})
