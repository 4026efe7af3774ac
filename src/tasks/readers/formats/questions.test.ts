import { describe, expect, test } from 'vitest'
import type { ColumnSpec } from '../../../../test/store/support/write-parquet.ts'
import { golds, read, readParquet, readText } from '../../../../test/tasks/read-fixture.ts'

describe('questions with short answers', () => {
  test('HotpotQA, as JSON and as Parquet, and 2WikiMultihopQA', async () => {
    const item = {
      _id: 'h1',
      question: 'Which river?',
      answer: 'Elm',
      type: 'bridge',
      level: 'hard',
      supporting_facts: [
        ['Bridge', 0],
        ['Elm', 2],
        ['Elm', 3],
      ],
      context: [['Bridge', ['s']]],
    }
    const original = await readText(
      'hotpotqa',
      'dev.json',
      JSON.stringify([item, { ...item, _id: 'h2', answer: undefined }]),
    )
    expect(original.tasks).toMatchObject([
      {
        id: 'hotpotqa:h1',
        domain: 'multihop',
        gold: { checker: 'exact', answers: ['Elm'] },
        meta: { type: 'bridge', difficulty: 'hard', supportingTitles: ['Bridge', 'Elm'] },
      },
    ])
    expect(original.reports).toHaveLength(1)
    const columns: Record<string, ColumnSpec> = {
      id: 'string',
      question: 'string',
      answer: 'string',
      type: 'string',
      level: 'string',
      supporting_facts: { title: ['string'], sent_id: ['integer'] },
      context: { title: ['string'], sentences: [['string']] },
    }
    const row = {
      id: 'h1',
      question: 'Which river?',
      answer: 'Elm',
      type: 'bridge',
      level: 'hard',
      supporting_facts: { title: ['Bridge', 'Elm'], sent_id: [0n, 2n] },
      context: { title: ['Bridge'], sentences: [['s']] },
    }
    expect((await readParquet('hotpotqa', columns, [row])).tasks).toEqual(original.tasks)
    const wiki = await readText(
      '2wiki',
      'dev.json',
      JSON.stringify([
        { ...item, evidences: [['a', 'b', 'c']], supporting_facts: JSON.stringify(item.supporting_facts) },
      ]),
    )
    expect(wiki.tasks).toMatchObject([
      { id: '2wiki:h1', suite: '2wiki', meta: { supportingTitles: ['Bridge', 'Elm'] } },
    ])
  })

  test('MuSiQue: aliases count, unanswerable questions do not', async () => {
    const item = {
      id: '2hop__1_2',
      question: 'Who?',
      answer: 'Ada',
      answer_aliases: ['Ada L.', 'Ada'],
      answerable: true,
      paragraphs: [
        { idx: 0, title: 'Ada', paragraph_text: '…', is_supporting: true },
        { idx: 1, title: 'Other', paragraph_text: '…', is_supporting: false },
      ],
      question_decomposition: [{ id: 1, question: 'q', answer: 'a', paragraph_support_idx: 0 }],
    }
    const { tasks, reports } = await read('musique', [item, { ...item, id: 'x', answerable: false }])
    expect(tasks).toMatchObject([
      { id: 'musique:2hop__1_2', gold: { answers: ['Ada', 'Ada L.'] }, meta: { supportingTitles: ['Ada'] } },
    ])
    expect(reports).toMatchObject([{ isSkipped: true }])
  })

  test('NQ, Bamboogle, PopQA and the FlashRAG copies', async () => {
    expect(golds(await read('nq', [{ question: 'when', answer: ['1972', 'December 1972'] }]))).toEqual([
      { checker: 'exact', answers: ['1972', 'December 1972'] },
    ])
    expect(golds(await readText('bamboogle', 'b.csv', 'Question,Answer\n"Who, then?",Ada\n'))).toEqual([
      { checker: 'exact', answers: ['Ada'] },
    ])
    const flash = await read('bamboogle', [
      { id: 'test_0', question: 'Who?', golden_answers: ['Ada', 'A. L.'] },
    ])
    expect(flash.tasks).toMatchObject([{ id: 'bamboogle:test_0', gold: { answers: ['Ada', 'A. L.'] } }])
    const popqa = await readText(
      'popqa',
      'test.tsv',
      'id\tsubj\tprop\tobj\ts_pop\tquestion\tpossible_answers\n4\tIda\toccupation\tpilot\t142\tWhat is Ida\'s occupation?\t"[""pilot"", ""aviator""]"\n',
    )
    expect(popqa.tasks).toMatchObject([
      {
        id: 'popqa:4',
        gold: { answers: ['pilot', 'aviator'] },
        meta: { relation: 'occupation', popularity: 142 },
      },
    ])
  })

  test('TriviaQA, from its authors and from the Hub', async () => {
    const original = await readText(
      'triviaqa',
      'dev.json',
      JSON.stringify({
        Data: [
          {
            Question: 'Which?',
            QuestionId: 'tc_1',
            QuestionSource: 's',
            Answer: {
              Value: 'Elm',
              Aliases: ['Elm', 'The Elm'],
              NormalizedAliases: ['elm'],
              Type: 'WikipediaEntity',
            },
          },
          { Question: 'No answer?', QuestionId: 'tc_2' },
        ],
        Domain: 'web',
        Version: 1.0,
      }),
    )
    expect(original.tasks).toMatchObject([{ id: 'triviaqa:tc_1', gold: { answers: ['Elm', 'The Elm'] } }])
    expect(original.reports).toHaveLength(1)
    const columns: Record<string, ColumnSpec> = {
      question: 'string',
      question_id: 'string',
      answer: { aliases: ['string'], value: 'string', type: 'string' },
    }
    const hub = await readParquet('triviaqa', columns, [
      { question: 'Which?', question_id: 'tc_1', answer: { aliases: ['The Elm'], value: 'Elm', type: 'x' } },
    ])
    expect(hub.tasks).toEqual(original.tasks)
  })
})
