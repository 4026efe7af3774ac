import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ColumnSpec } from '../../../../test/store/support/write-parquet.ts'
import { golds, read, readParquet } from '../../../../test/tasks/read-fixture.ts'
import { unpickleString } from './unpickle-string.ts'

describe('programs', () => {
  test('MBPP, full and sanitized', async () => {
    const whole = {
      text: 'Write a function to double.',
      code: 'def d(n):\r\n  return 2*n',
      task_id: 602,
      test_setup_code: 'import math',
      test_list: ['assert d(1) == 2', 'assert d(2) == 4'],
      challenge_test_list: [],
    }
    const sanitized = {
      source_file: 'x',
      task_id: 17,
      prompt: 'Halve.',
      code: 'def h(n): return n/2',
      test_imports: ['import math'],
      test_list: ['assert h(2) == 1'],
    }
    const { tasks, reports } = await read('mbpp', [whole, sanitized, { task_id: 3, text: 'No tests.' }])
    expect(tasks).toMatchObject([
      {
        id: 'mbpp:602',
        split: 'train',
        question: 'Write a function to double.\n\nYour function is called like this:\nassert d(1) == 2',
        gold: {
          checker: 'code',
          setup: 'import math',
          tests: [{ code: 'assert d(1) == 2' }, { code: 'assert d(2) == 4' }],
        },
        meta: { solution: 'def d(n):\n  return 2*n' },
      },
      { id: 'mbpp:17', split: 'test', gold: { setup: 'import math' } },
    ])
    expect(reports).toMatchObject([{ problem: 'it has no test_list' }])
  })

  test('HumanEval', async () => {
    const prompt = 'def inc(n):\n    """ One more. """\n'
    const row = {
      task_id: 'HumanEval/7',
      prompt,
      entry_point: 'inc',
      canonical_solution: '    return n + 1\n',
      test: 'def check(candidate):\n    assert candidate(1) == 2\n',
    }
    const { tasks } = await read('humaneval', [row])
    expect(tasks).toMatchObject([
      {
        id: 'humaneval:7',
        gold: { setup: prompt, tests: [{ style: 'assert', code: `${row.test}\n\ncheck(inc)\n` }] },
        meta: { entry: 'inc', solution: `${prompt}    return n + 1\n` },
      },
    ])
    expect(tasks[0]?.question).toContain('One more.')
  })

  const pickled = (text: string) => {
    const bytes = Buffer.from(text)
    const head = Buffer.from('800495000000000000000058', 'hex')
    const length = Buffer.alloc(4)
    length.writeUInt32LE(bytes.length)
    return Buffer.concat([head, length, bytes, Buffer.from('942e', 'hex')])
  }
  const packed = (tests: unknown) => deflateSync(pickled(JSON.stringify(tests))).toString('base64')

  test('LiveCodeBench: plain public tests, packed private ones', async () => {
    const base = {
      question_title: 't',
      question_content: 'Add.',
      platform: 'atcoder',
      contest_id: 'c1',
      contest_date: '2024-01-01T00:00:00',
      difficulty: 'easy',
      starter_code: '',
      metadata: '{}',
    }
    const stdin = { input: '1 2\n', output: '3\n', testtype: 'stdin' }
    const functional = { input: '[1, 2]\n3', output: '[4, 5]', testtype: 'functional' }
    const { tasks, reports } = await read('livecodebench', [
      {
        ...base,
        question_id: 'a',
        public_test_cases: JSON.stringify([stdin]),
        private_test_cases: packed([stdin, stdin]),
      },
      {
        ...base,
        question_id: 'b',
        starter_code: 'class Solution:\n    def add(self, x: List[int], n: int):\n        ',
        metadata: '{"func_name": "add"}',
        public_test_cases: JSON.stringify([functional]),
        private_test_cases: JSON.stringify([functional]),
      },
      { ...base, question_id: 'c', public_test_cases: '[]', private_test_cases: 'AAAA' },
      { ...base, question_id: 'd', public_test_cases: JSON.stringify([functional]) },
    ])
    expect(tasks.map(({ id }) => id)).toEqual(['livecodebench:a', 'livecodebench:b'])
    expect(golds({ tasks })).toMatchObject([
      { tests: [{ style: 'stdio', stdin: '1 2\n', stdout: '3\n' }, {}, {}] },
      { tests: [{ style: 'functional', entry: 'add', args: [[1, 2], 3], expected: [4, 5] }, {}] },
    ])
    expect(tasks[1]?.question).toContain('class Solution')
    expect(reports.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^its private_test_cases cannot be unpacked/),
      'it tests a function, but metadata has no func_name',
    ])
  })

  test('a pickle is read as a string or rejected, and never executed', () => {
    const samples = [
      '580c0000005b7b226ec3a9223a20317d5d71002e',
      '8002580c0000005b7b226ec3a9223a20317d5d71002e',
      '8003580c0000005b7b226ec3a9223a20317d5d71002e',
      '80049510000000000000008c0c5b7b226ec3a9223a20317d5d942e',
      '80059510000000000000008c0c5b7b226ec3a9223a20317d5d942e',
    ]
    for (const hex of samples) expect(unpickleString(Buffer.from(hex, 'hex'))).toBe('[{"né": 1}]')
    const refused = {
      call: '8004951e000000000000008c086275696c74696e73948c057072696e749493948c017894859452942e',
      list: '80049508000000000000005d948c016194612e',
      old: '56610a70300a2e',
    }
    for (const hex of Object.values(refused)) {
      expect(() => unpickleString(Buffer.from(hex, 'hex'))).toThrow(/more than a string/)
    }
    expect(() => unpickleString(Buffer.from('80042e', 'hex'))).toThrow('empty')
    expect(() => unpickleString(Buffer.from('80048c09', 'hex'))).toThrow('ends within')
    expect(() => unpickleString(Buffer.from('8004', 'hex'))).toThrow('no end')
  })

  test('CodeContests: all tests, and a solution in Python 3', async () => {
    const tests: ColumnSpec = { input: ['string'], output: ['string'] }
    const columns: Record<string, ColumnSpec> = {
      name: 'string',
      description: 'string',
      public_tests: tests,
      private_tests: tests,
      generated_tests: tests,
      solutions: { language: ['integer'], solution: ['string'] },
      input_file: 'string',
      output_file: 'string',
      difficulty: 'integer',
    }
    const none = { input: [], output: [] }
    const base = {
      public_tests: { input: ['1\n'], output: ['2\n'] },
      private_tests: none,
      generated_tests: { input: ['3\n'], output: ['4\n'] },
      solutions: { language: [2n, 3n], solution: ['int main(){}', 'print(int(input())+1)'] },
      input_file: '',
      output_file: '',
      difficulty: 8n,
    }
    const { tasks, reports } = await readParquet('codecontests', columns, [
      { ...base, name: '1_A. Next', description: 'Add one.' },
      { ...base, name: '2_A. File', description: 'Read.', input_file: 'input.txt' },
      { ...base, name: '3_A. None', description: 'Nothing.', public_tests: none, generated_tests: none },
    ])
    expect(tasks).toMatchObject([
      {
        id: 'codecontests:1_A. Next',
        gold: {
          tests: [
            { stdin: '1\n', stdout: '2\n' },
            { stdin: '3\n', stdout: '4\n' },
          ],
        },
        meta: { solution: 'print(int(input())+1)', difficulty: 8 },
      },
    ])
    expect(reports).toMatchObject([{ isSkipped: true }, { problem: 'it has no tests', isSkipped: false }])
  })
})
