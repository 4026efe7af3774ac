import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { howMany } from '../../../test/how-many.ts'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import { writeParquetRows } from '../../../test/store/support/write-parquet.ts'
import { checkAnswer } from '../../reward/index.ts'
import type { Task } from '../../schema/index.ts'
import { jsonItems } from './files/json-items.ts'
import { jsonLines } from './files/json-lines.ts'
import type { RawRow } from './files/raw-row.ts'
import { separatedValues } from './files/separated-values.ts'
import { isTask, parseColumnMap, type ReadOptions, type RowReport, readTasks } from './index.ts'

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

async function read(name: string, content: string | Uint8Array, options: ReadOptions) {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, content)
  const items = await all(readTasks(file, options))
  return {
    tasks: items.filter(isTask),
    reports: items.filter((item): item is RowReport => !isTask(item)),
  }
}

const rows = [
  { uid: 'a', problem: 'What is, "quoted", 1 + 1?', gold: '2' },
  { uid: 'b', problem: 'Two\nlines – ünïcode', gold: 'zwei' },
]
const options: ReadOptions = {
  format: 'plain',
  map: parseColumnMap('question=problem, answer=gold,id=uid'),
  suite: 'own',
}
const csv = (separator: string) =>
  `uid${separator}problem${separator}gold\r\na${separator}"What is, ""quoted"", 1 + 1?"${separator}2\r\nb${separator}"Two\nlines – ünïcode"${separator}zwei\r\n`
const forms: [string, string][] = [
  ['own.jsonl', `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`],
  ['own.json', JSON.stringify(rows, null, 2)],
  ['own.csv', csv(',')],
  ['own.tsv', csv('\t')],
  ['own.jsonl', `\ufeff${rows.map((row) => JSON.stringify(row)).join('\r\n\r\n')}`],
  ['own.json', rows.map((row) => JSON.stringify(row)).join('\n')],
]

test.each(forms)('reads the same tasks from %s, gzipped or not', async (name, content) => {
  for (const [file, bytes] of [[name, content] as const, [`${name}.gz`, gzipSync(content)] as const]) {
    const { tasks, reports } = await read(file, bytes, options)
    expect(reports).toEqual([])
    expect(tasks.map(({ id, question, gold }) => [id, question, gold])).toEqual([
      ['own:a', rows[0]!.problem, { checker: 'exact', answers: ['2'] }],
      ['own:b', rows[1]!.problem, { checker: 'exact', answers: ['zwei'] }],
    ])
  }
})

test('reads the same tasks from Parquet', async () => {
  const file = join(temporaryFolder(), 'own.parquet')
  writeParquetRows(file, { uid: 'string', problem: 'string', gold: 'string' }, rows)
  expect((await all(readTasks(file, options))).map((item) => isTask(item) && item.id)).toEqual([
    'own:a',
    'own:b',
  ])
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)))
  expect(await all(readTasks(`${file}.gz`, options))).toHaveLength(2)
})

test('reports bad rows with their line, and reads the good ones', async () => {
  const lines = [
    '{"question":"q1","answer":"1"}',
    'no json',
    '[1]',
    '{"question":"q2"}',
    '',
    '{"question":"q3","answer":3}',
  ]
  const { tasks, reports } = await read('own.jsonl', lines.join('\n'), { format: 'plain' })
  expect(tasks.map(({ question }) => question)).toEqual(['q1', 'q3'])
  expect(reports.map(({ line }) => line)).toEqual([2, 3, 4])
  expect(reports.map(({ problem }) => problem.split(':')[0])).toEqual([
    'it is not JSON',
    'it is JSON, but not an object',
    'it has no answer or gold or target',
  ])
  const table = await read('own.csv', 'question,answer\nq1,1\nq2\n"open, 2\n', { format: 'plain' })
  expect(table.reports).toMatchObject([
    { line: 3, problem: 'it has 1 fields, but the header has 2' },
    { line: 4 },
  ])
  const items = await read('own.json', '[{"question":"q1","answer":"1"},{"question":"q2","ans', {
    format: 'plain',
  })
  expect(items.tasks).toHaveLength(1)
  expect(items.reports).toMatchObject([{ line: 2, problem: 'the file ends within an item' }])
})

test('a file in another format gives one error that says what was expected and found', async () => {
  const content = Array.from({ length: 500 }, (_, n) => JSON.stringify({ title: `t${n}`, body: 'x' })).join(
    '\n',
  )
  await expect(read('other.jsonl', content, { format: 'hotpotqa' })).rejects.toMatchObject({
    message: expect.stringMatching(
      /no row of other.jsonl is a hotpotqa task: it needs question; answer; found title, body/,
    ),
    fix: expect.stringContaining('--map'),
  })
  await expect(read('empty.jsonl', '\n\n', options)).rejects.toThrow('has no rows')
  await expect(read('what.bin', 'x', options)).rejects.toThrow('unknown file type')
  await expect(read('bad.jsonl.gz', 'not packed', options)).rejects.toMatchObject({ boundary: 'usage' })
  await expect(read('bad.parquet', 'not parquet', options)).rejects.toMatchObject({ boundary: 'usage' })
  await expect(all(readTasks('/no/such/file.jsonl', options))).rejects.toMatchObject({ boundary: 'usage' })
  await expect(read('own.jsonl', '{}', { format: 'gsm8' })).rejects.toMatchObject({
    fix: 'Did you mean gsm8k?',
  })
})

test('ids are reproducible and unique', async () => {
  const lines = [
    { question: 'one', answer: '1' },
    { question: 'two', answer: '2' },
    { question: 'one', answer: '1' },
  ]
  const content = lines.map((row) => JSON.stringify(row))
  const { tasks, reports } = await read('nq.jsonl', content.join('\n'), { format: 'nq' })
  const again = await read('nq.jsonl', [...content].reverse().join('\n'), { format: 'nq' })
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(2)
  expect(again.tasks.map(({ id }) => id).sort()).toEqual(tasks.map(({ id }) => id).sort())
  expect(reports).toEqual([{ line: 3, problem: 'it repeats row 1', isSkipped: true }])

  const clash = [
    { id: 'x', question: 'one', answer: '1' },
    { id: 'x', question: 'two', answer: '2' },
  ]
  const { tasks: both } = await read('own.jsonl', clash.map((row) => JSON.stringify(row)).join('\n'), {
    format: 'plain',
    suite: 's',
  })
  expect(both.map(({ id }) => id)).toEqual(['s:x', expect.stringMatching(/^s:x-[0-9a-f]{16}$/)])
})

test('a limit counts tasks, and reading stops there', async () => {
  const content =
    `${JSON.stringify({ question: 'q', answer: 'a' })}\nbad\n{"question":"q2","answer":"a"}\n`.repeat(2)
  expect((await read('own.jsonl', content, { format: 'plain', limit: 1 })).tasks).toHaveLength(1)
  expect((await read('own.jsonl', content, { format: 'plain', limit: 0 })).tasks).toHaveLength(0)
  const signal = AbortSignal.abort(new Error('called off'))
  await expect(read('own.jsonl', content, { format: 'plain', signal })).rejects.toThrow('called off')
})

test('a split comes from the row, the settings, the file name or the question, in this order', async () => {
  const row = JSON.stringify({ question: 'q', answer: '#### 1' })
  const marked = JSON.stringify({ question: 'q', answer: '1', split: 'validation' })
  const splitOf = async (name: string, text: string, more: ReadOptions) =>
    (await read(name, text, more)).tasks[0]?.split
  expect(await splitOf('test.jsonl', row, { format: 'gsm8k' })).toBe('test')
  expect(await splitOf('test.jsonl', row, { format: 'gsm8k', defaultSplit: 'train' })).toBe('train')
  expect(await splitOf('mine-train.jsonl', row, { format: 'plain' })).toBe('train')
  expect(await splitOf('train.jsonl', marked, { format: 'plain', defaultSplit: 'test' })).toBe('dev')
  // A benchmark that is a test set stays one, whatever the name of the copy.
  expect(
    await splitOf('copy.jsonl', JSON.stringify({ problem: 'q', answer: '1' }), { format: 'aime25' }),
  ).toBe('test')
  const one = await splitOf('a.jsonl', '{"question":"What is 5 + 3?","answer":"8"}', { format: 'plain' })
  const other = await splitOf('b.csv', 'question,answer\n" what is  5 + 3",8\n', { format: 'plain' })
  expect(one).toBe(other)
  const odd = await read('own.jsonl', `${marked}\n{"question":"r","answer":"1","split":"gold"}`, {})
  expect(odd.reports).toMatchObject([{ line: 2, problem: 'its split "gold" is not train, dev or test' }])
})

test('rows are selected by split and never moved to another one', async () => {
  const content = ['train', 'dev', 'test', 'train']
    .map((split, n) => JSON.stringify({ question: `q${n}`, answer: `${n}`, split }))
    .join('\n')
  for (const split of ['train', 'dev', 'test'] as const) {
    const { tasks } = await read('own.jsonl', content, { split })
    expect(tasks.map((task) => task.split)).toEqual(split === 'train' ? ['train', 'train'] : [split])
    expect((await read('own.jsonl', content, { split, limit: 1 })).tasks).toHaveLength(1)
  }
})

test.each([
  ['numbers', ['18', '1,234.5', '-3/4', '$12', '50 %', '\\frac{1}{2}'], { checker: 'math' }, 'math'],
  ['names', ['Bath, Maine', '1820', 'yes'], { checker: 'exact' }, 'multihop'],
  ['long texts', [`${'word '.repeat(30)}`, 'so '.repeat(20)], { checker: 'judge' }, 'multihop'],
  ['GSM8K', ['48/2 = <<48/2=24>>24\n#### 24'], { checker: 'math', answer: '24' }, 'math'],
])('a file with question and answer needs no options: %s', async (_, answers, gold, domain) => {
  const notes: string[] = []
  const content = answers.map((answer, n) => JSON.stringify({ question: `q${n}`, answer })).join('\n')
  const { tasks, reports } = await read('own.jsonl', content, { onNote: (note) => notes.push(note) })
  expect(reports).toEqual([])
  expect(tasks).toHaveLength(answers.length)
  for (const task of tasks) expect(task).toMatchObject({ gold, domain })
  expect(notes[0]).toContain('own.jsonl: answers')
  expect((await read('own.jsonl', content, { checker: 'judge' })).tasks[0]!.gold.checker).toBe('judge')
})

test('rows with tests are code, and the question shows how the function is called', async () => {
  const row = { prompt: 'Find the smallest factor.', tests: ['assert factor(12) == 2'], solution: '…' }
  const { tasks } = await read('own.jsonl', JSON.stringify(row), {})
  expect(tasks[0]).toMatchObject({ domain: 'code', gold: { checker: 'code' } })
  expect(tasks[0]!.question).toContain('factor(12)')
  const named = { question: 'Write factor(n).', tests: ['assert factor(12) == 2'] }
  expect((await read('own.jsonl', JSON.stringify(named), {})).tasks[0]!.question).toBe('Write factor(n).')
})

test("tasks without a grammar use the project's own", async () => {
  const text = '{"question":"q","answer":"1"}'
  const domainOf = async (more: ReadOptions) => (await read('own.jsonl', text, more)).tasks[0]?.domain
  expect(await domainOf({ grammar: 'orders.toml' })).toBe('orders.toml')
  expect(await domainOf({ grammar: 'orders.toml', domain: 'web' })).toBe('web')
})

test('tasks written by coa are read back unchanged', async () => {
  const task: Task = {
    v: 1,
    id: 'math-7',
    suite: 'made',
    domain: 'math',
    split: 'train',
    question: 'q',
    gold: { checker: 'math', answer: '4' },
    level: 2,
    meta: { program: { steps: [1, 2] } },
  }
  const { tasks, reports } = await read('tasks.jsonl', `${JSON.stringify(task)}\n{"v":1,"id":"x"}`, {
    format: 'coa',
  })
  expect(tasks).toEqual([task])
  expect(reports[0]?.problem).toMatch(/^it is not a task: suite/)
})

test('rejects a map with an unknown field', () => {
  expect(parseColumnMap('question=a b,answer=c')).toEqual({ question: 'a b', answer: 'c' })
  expect(() => parseColumnMap('problem=question')).toThrow('is not FIELD=COLUMN')
  expect(() => parseColumnMap('question')).toThrow('is not FIELD=COLUMN')
})

async function* pieces(text: string, cuts: readonly number[]): AsyncGenerator<string> {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  let from = 0
  for (const place of [...places, text.length]) {
    yield text.slice(from, place)
    from = place
  }
}
const values = (read: RawRow[]) => read.map((row) => ('values' in row ? row.values : row.problem))
const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 4,
  noNullPrototype: true,
})
const cuts = fc.array(fc.nat(), { maxLength: 6 })

test('splits JSON into the same items for any chunking', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(object, { maxLength: 4 }),
      cuts,
      fc.constantFrom(0, 2),
      async (list, at, indent) => {
        const expected = JSON.parse(JSON.stringify(list))
        const wrapped = `{"Version": [{"not": "an item"}], "Data": ${JSON.stringify(list, null, indent)}, "Domain": "x"}`
        expect(values(await all(jsonItems(pieces(JSON.stringify(list, null, indent), at))))).toEqual(expected)
        expect(values(await all(jsonItems(pieces(wrapped, at), 'Data')))).toEqual(expected)
        const lines = list.map((item) => JSON.stringify(item)).join('\n')
        expect(values(await all(jsonLines(pieces(lines, at))))).toEqual(expected)
        expect(values(await all(jsonItems(pieces(lines, at))))).toEqual(expected)
      },
    ),
    { numRuns: howMany(10_000) },
  )
})

test('separated values are read back unchanged', async () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ',', '\t', '"', '\n', ' ', 'é', '😀') })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 4 }),
      cuts,
      fc.constantFrom(',' as const, '\t' as const),
      async (list, at, separator) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
        const text = [['one', 'two'], ...list].map((row) => row.map(quoted).join(separator)).join('\n')
        const expected = list.map(([one, two]) => ({ one, two }))
        expect(values(await all(separatedValues(pieces(text, at), separator)))).toEqual(expected)
      },
    ),
    { numRuns: howMany(10_000) },
  )
})

test('skips rows over the limit', async () => {
  const lines = `{"a":"${'x'.repeat(100)}"}\n{"a":"y"}\n`
  expect(values(await all(jsonLines(pieces(lines, [20, 50]), 50)))).toEqual([
    'the line is too long',
    { a: 'y' },
  ])
  expect(values(await all(jsonItems(pieces(lines, [20, 50]), undefined, 50)))).toEqual([
    'the item is too long',
    { a: 'y' },
  ])
  const table = `a\n${'x'.repeat(100)}\ny\n`
  expect(values(await all(separatedValues(pieces(table, [20, 50]), ',', 50)))).toEqual([
    'the row is too long',
    { a: 'y' },
  ])
})

test('reads questions without answers only if told that there are none', async () => {
  const lines = '{"question":"Plan a trip."}\n{"question":"Write a poem.","answer":"ignored"}\n'
  const { tasks } = await read('questions.jsonl', lines, { checker: 'none', domain: 'web' })
  expect(tasks.map(({ question, gold }) => [question, gold])).toEqual([
    ['Plan a trip.', { checker: 'none' }],
    ['Write a poem.', { checker: 'none' }],
  ])
  const checked = await checkAnswer(tasks[0]!.gold, 'By train.')
  expect(checked).toMatchObject({ outcome: 'undecided', evidence: 'there is no gold answer' })
  const { reports } = await read('questions.jsonl', lines, { checker: 'exact', domain: 'web' })
  expect(reports.map(({ problem }) => problem)).toEqual([expect.stringContaining('it has no')])
})
