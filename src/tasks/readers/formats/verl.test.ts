import { describe, expect, test } from 'vitest'
import type { ColumnSpec } from '../../../../test/store/support/write-parquet.ts'
import { golds, ids, read, readParquet } from '../../../../test/tasks/read-fixture.ts'

describe('verl', () => {
  const message = (content: string) => [
    { role: 'system', content: 's' },
    { role: 'user', content },
  ]

  test('the shapes of ground_truth that are in use', async () => {
    const { tasks, reports } = await read('verl', [
      {
        data_source: 'nq',
        prompt: message('Use tools.\n\nQuestion: who?'),
        ability: 'qa',
        reward_model: { style: 'rule', ground_truth: { target: ['Ada', 'A.'] } },
        extra_info: { index: 3, split: 'train' },
      },
      {
        data_source: 'hotpot',
        prompt: message('who?'),
        reward_model: { ground_truth: '{"target": ["Bob"]}' },
        extra_info: { index: 4, question: 'Who, by itself?' },
      },
      {
        data_source: 'math_dapo',
        prompt: message('sum?'),
        ability: 'MATH',
        reward_model: { ground_truth: '34' },
        extra_info: { index: 'uuid-1' },
      },
      {
        data_source: 'skywork',
        prompt: message('code?'),
        ability: 'code',
        reward_model: { ground_truth: { inputs: [[1, 2]], outputs: [[3]], fn_name: 'add' } },
      },
      {
        data_source: 'skywork',
        prompt: message('print?'),
        reward_model: { ground_truth: JSON.stringify({ inputs: ['1\n'], outputs: ['2\n'] }) },
      },
      {
        data_source: 'skywork',
        prompt: message('check?'),
        reward_model: {
          ground_truth: {
            import_prefix: 'import math\n',
            test_code: 'def check(candidate):\n    assert candidate(1)',
            entry_point: 'f',
          },
        },
      },
      {
        data_source: 'lcb',
        prompt: message('read?'),
        reward_model: {
          ground_truth: JSON.stringify({ stdin: ['1'], expected_output: ['2'], question_id: 'q' }),
        },
      },
      { data_source: 'nq', prompt: message('nothing?'), reward_model: {} },
    ])
    expect(ids({ tasks }).slice(0, 3)).toEqual(['nq:train-3', 'hotpot:4', 'math_dapo:uuid-1'])
    expect(tasks.map(({ question, domain }) => [question, domain])).toEqual([
      ['who?', 'multihop'],
      ['Who, by itself?', 'multihop'],
      ['sum?', 'math'],
      ...['code?', 'print?', 'check?', 'read?'].map((text) => [text, 'code']),
    ])
    expect(tasks[0]!.split).toBe('train')
    expect(golds({ tasks })).toMatchObject([
      { checker: 'exact', answers: ['Ada', 'A.'] },
      { checker: 'exact', answers: ['Bob'] },
      { checker: 'math', answer: '34' },
      { tests: [{ style: 'functional', entry: 'add', args: [1, 2], expected: 3 }] },
      { tests: [{ style: 'stdio', stdin: '1\n', stdout: '2\n' }] },
      { setup: 'import math\n', tests: [{ style: 'assert', code: expect.stringContaining('check(f)') }] },
      { tests: [{ style: 'stdio', stdin: '1', stdout: '2' }] },
    ])
    expect(reports).toMatchObject([{ line: 8, problem: 'it has no ground_truth in reward_model' }])
  })

  test('from Parquet', async () => {
    const columns: Record<string, ColumnSpec> = {
      data_source: 'string',
      prompt: [{ role: 'string', content: 'string' }],
      ability: 'string',
      reward_model: { style: 'string', ground_truth: 'string' },
      extra_info: { index: 'integer', split: 'string' },
    }
    const { tasks } = await readParquet('verl', columns, [
      {
        data_source: 'openai/gsm8k',
        prompt: message('How many?'),
        ability: 'math',
        reward_model: { style: 'rule', ground_truth: '72' },
        extra_info: { index: 0n, split: 'test' },
      },
    ])
    expect(tasks).toMatchObject([
      {
        id: 'openai/gsm8k:test-0',
        split: 'test',
        question: 'How many?',
        gold: { checker: 'math', answer: '72' },
      },
    ])
  })
})
