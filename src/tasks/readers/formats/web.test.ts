import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { read, readText } from '../../../../test/tasks/read-fixture.ts'
import { assertMayBeWritten, isMemoryOnly } from '../index.ts'

describe('web questions', () => {
  test('GAIA: compares numbers by value and the rest exactly; skips files and secret answers', async () => {
    const base = { Level: 2, file_name: '', file_path: '', 'Annotator Metadata': { Steps: '…' } }
    const { tasks, reports } = await read('gaia', [
      { ...base, task_id: 'g1', Question: 'How many?', 'Final answer': '1,234' },
      { ...base, task_id: 'g2', Question: 'Which?', 'Final answer': 'ada, bob' },
      { ...base, task_id: 'g3', Question: 'Secret?', 'Final answer': '?' },
      { ...base, task_id: 'g4', Question: 'In the file?', 'Final answer': 'x', file_name: 'a.xlsx' },
    ])
    expect(tasks).toMatchObject([
      { id: 'gaia:g1', domain: 'web', level: 2, gold: { checker: 'math', answer: '1234' } },
      { id: 'gaia:g2', gold: { checker: 'exact', answers: ['ada, bob'] } },
    ])
    expect(reports.map(({ problem, isSkipped }) => [problem, isSkipped])).toEqual([
      ['its answer is not published', true],
      ['it comes with a file', true],
    ])
  })

  test('HLE: text questions only; a file with only images is not an error', async () => {
    const base = {
      answer: 'B',
      answer_type: 'multipleChoice',
      author_name: 'x',
      rationale: 'r',
      raw_subject: 'Logic',
      category: 'Math',
      canary: 'c',
    }
    const image = { ...base, id: 'i', question: 'Look.', image: 'data:image/png;base64,AA' }
    const { tasks, reports } = await read('hle', [image, { ...base, id: 't', question: 'Think.', image: '' }])
    expect(tasks).toMatchObject([
      {
        id: 'hle:t',
        gold: { checker: 'judge', answer: 'B' },
        meta: { answerType: 'multipleChoice', category: 'Math' },
      },
    ])
    expect(reports).toEqual([{ line: 1, problem: 'it has an image', isSkipped: true }])
    expect(await read('hle', [image])).toMatchObject({ tasks: [], reports: [{ isSkipped: true }] })
  })

  test('WebWalkerQA, in both spellings', async () => {
    const small = {
      question: 'When is it?',
      answer: 'In May.',
      root_url: 'https://example.org/',
      info: {
        hop: 'multi-source',
        domain: 'conference',
        lang: 'en',
        difficulty_level: 'easy',
        source_website: ['https://example.org/a'],
        golden_path: ['root->a'],
      },
    }
    const large = {
      Question: 'When?',
      Answer: 'In May.',
      Root_Url: 'https://example.org/',
      Info: { Hop: 'single-source', Difficulty_Level: 'Medium' },
    }
    const { tasks } = await read('webwalkerqa', [small, large])
    expect(tasks).toMatchObject([
      {
        question: 'When is it?\n\nStart from https://example.org/',
        gold: { checker: 'judge', answer: 'In May.' },
        meta: { hop: 'multi-source', difficulty: 'easy', language: 'en' },
      },
      { meta: { hop: 'single-source', difficulty: 'Medium' } },
    ])
  })

  const seal = (text: string, canary: string) => {
    const key = createHash('sha256').update(canary).digest()
    return Buffer.from(Buffer.from(text).map((byte, index) => byte ^ key[index % key.length]!)).toString(
      'base64',
    )
  }
  const question = 'Which pond, long ago, was named after a boat – and by whom? Answer with a name.'
  const sealed = (canary: string, used = canary) =>
    `${seal(question, used)},${seal('Ida', used)},Nature,${canary}\n`

  test('BrowseComp: decrypted in memory, and marked to stay there', async () => {
    const text = `problem,answer,problem_topic,canary\n${sealed('canary one')}${sealed('other key', 'canary two')}`
    const { tasks, reports } = await readText('browsecomp', 'b.csv', text)
    expect(tasks).toMatchObject([
      { question, domain: 'web', gold: { checker: 'judge', answer: 'Ida' }, meta: { topic: 'Nature' } },
    ])
    expect(tasks[0]?.id).not.toContain('pond')
    expect(reports).toMatchObject([{ line: 3, problem: expect.stringContaining('cannot be decrypted') }])
    expect(isMemoryOnly(tasks[0]!)).toBe(true)
    expect(() => assertMayBeWritten(tasks[0]!)).toThrow('published only in encrypted form')

    const open = await readText('browsecomp', 'b.csv', text, { allowPlainText: true })
    expect(open.tasks[0]?.id).toBe(tasks[0]?.id)
    expect(() => assertMayBeWritten(open.tasks[0]!)).not.toThrow()
  })
})
