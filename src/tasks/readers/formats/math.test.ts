import { describe, expect, test } from 'vitest'
import { golds, ids, read, readParquet } from '../../../../test/tasks/read-fixture.ts'

describe('math', () => {
  test('GSM8K: the number after the mark', async () => {
    const { tasks, reports } = await read('gsm8k', [
      { question: 'Two boxes of 600 pens?', answer: '2 * 600 = <<2*600=1200>>1200\n#### 1,200' },
      { question: 'Owed?', answer: 'It is below zero.\n#### -3' },
      { question: 'No mark?', answer: 'many' },
    ])
    expect(golds({ tasks })).toEqual([
      { checker: 'math', answer: '1200' },
      { checker: 'math', answer: '-3' },
    ])
    expect(tasks[0]).toMatchObject({ suite: 'gsm8k', domain: 'math' })
    expect(reports).toMatchObject([{ line: 3, isSkipped: false }])
  })

  test('MATH-500, AIME and AMC, in several copies', async () => {
    const math = await read('math-500', [
      {
        problem: 'Half of $x$?',
        solution: 'It is $\\boxed{\\frac{x}{2}}$.',
        answer: '\\frac{x}{2}',
        subject: 'Algebra',
        level: 3,
        unique_id: 'test/algebra/1.json',
      },
    ])
    expect(math.tasks).toMatchObject([
      {
        id: 'math-500:test/algebra/1.json',
        level: 3,
        gold: { answer: '\\frac{x}{2}' },
        meta: { subject: 'Algebra' },
      },
    ])
    const aime24 = await readParquet(
      'aime24',
      {
        id: 'integer',
        problem: 'string',
        solution: 'string',
        answer: 'string',
        url: 'string',
        year: 'string',
      },
      [
        {
          id: 60n,
          problem: 'Find $n$.',
          solution: 'So 033.',
          answer: '033',
          url: 'https://example.org',
          year: '2024',
        },
      ],
    )
    expect(aime24.tasks).toMatchObject([{ id: 'aime24:60', gold: { checker: 'math', answer: '033' } }])
    expect(
      golds(await read('aime24', [{ ID: '2024-I-1', Problem: 'Find it.', Solution: 's', Answer: 33 }])),
    ).toEqual([{ checker: 'math', answer: '33' }])
    expect(
      golds(await read('aime24', [{ id: 1, problem: 'p', solution: 'so \\boxed{204}', url: 'u' }])),
    ).toEqual([{ checker: 'math', answer: '204' }])
    expect(ids(await read('aime25', [{ problem_idx: 4, problem: 'Find it.', answer: 70 }]))).toEqual([
      'aime25:4',
    ])
    const amc = await readParquet(
      'amc23',
      { id: 'integer', answer: 'string', question: 'string', url: 'string' },
      [{ id: 0n, answer: '27.0', question: 'How far?', url: 'https://example.org' }],
    )
    expect(amc.tasks).toMatchObject([{ id: 'amc23:0', gold: { answer: '27.0' } }])
    expect((await read('aime25', [{ problem: 'p', answer: '1' }, { problem: 'q' }])).reports).toHaveLength(1)
  })

  test('OlympiadBench: skips figures and proofs', async () => {
    const base = {
      context: null,
      unit: null,
      error: null,
      is_multiple_answer: false,
      answer_type: 'Numerical',
    }
    const { tasks, reports } = await read('olympiadbench', [
      { ...base, id: 1, question: 'Find $C$.', solution: ['It is so.'], final_answer: ['$\\frac{1}{2}$'] },
      {
        ...base,
        id: 2,
        question: 'Find all.',
        context: 'Let $n>0$.',
        final_answer: ['1', '$2$'],
        is_multiple_answer: true,
      },
      { ...base, id: 3, question: 'See <img_3362>.', final_answer: ['1'] },
      { ...base, id: 4, question: 'Prove it.', final_answer: null },
    ])
    expect(golds({ tasks })).toEqual([
      { checker: 'math', answer: '\\frac{1}{2}' },
      { checker: 'math', answer: '1, 2' },
    ])
    expect(tasks[1]?.question).toBe('Let $n>0$.\n\nFind all.')
    expect(reports).toMatchObject([
      { problem: 'it has a figure', isSkipped: true },
      { problem: expect.stringContaining('proof'), isSkipped: true },
    ])
  })
})
