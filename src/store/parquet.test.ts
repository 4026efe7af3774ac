import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import { parquetWriteFile } from 'hyparquet-writer'
import { expect, test } from 'vitest'
import { howMany } from '../../test/how-many.ts'
import { anyRecord, recordsOf, task } from '../../test/store/support/records.ts'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { type RecordKind, recordKinds } from '../schema/index.ts'
import { createRun } from './create-run.ts'
import { columnsOf, EXACT_COLUMN } from './parquet-columns.ts'
import { exportParquet } from './parquet-export.ts'
import { importParquet } from './parquet-import.ts'
import { writeParquet } from './parquet-write.ts'

const options = { command: 'coa test', coa: '0.0.0' }

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

function columnNames(file: string): string[] {
  return parquetMetadata(readFileSync(file))
    .schema.slice(1)
    .map(({ name }) => name)
}

test.each(recordKinds)('%s: export and import is lossless', async (kind) => {
  const records = fc.uniqueArray(recordsOf(kind), { maxLength: 8, selector: ({ id }) => id })
  const file = join(temporaryFolder(), 'out.parquet')
  // Up to 8 records per run: every run writes and reads a file.
  await fc.assert(
    fc.asyncProperty(records, async (originals) => {
      expect(writeParquet(file, kind, () => originals)).toBe(originals.length)
      expect(await collect(importParquet(file, kind))).toEqual(originals)
      const needed = originals.some((record) =>
        columnsOf(kind).some(({ name, form }) => {
          const value = (record as Record<string, unknown>)[name]
          return form === 'string' && typeof value === 'string' && !value.isWellFormed()
        }),
      )
      expect(columnNames(file).includes(EXACT_COLUMN)).toBe(needed)
    }),
    { numRuns: howMany(1000) },
  )
})

test('columns have the types of the fields', () => {
  const forms = (kind: RecordKind) =>
    Object.fromEntries(columnsOf(kind).map(({ name, form }) => [name, form]))
  expect(forms('task')).toEqual({
    v: 'integer',
    id: 'string',
    suite: 'string',
    domain: 'string',
    split: 'string',
    question: 'string',
    gold: 'json',
    level: 'integer',
    meta: 'json',
  })
  expect(forms('rollout')).toMatchObject({ reward: 'number', spans: 'json', stop: 'string' })
})

test('exports many records in several row groups and imports them in order', async () => {
  const folder = temporaryFolder()
  using run = createRun(folder, options)
  const records = Array.from({ length: 25_000 }, (_, position) => task(`t${position}`, `q${position % 7}`))
  run.appendMany('task', records)
  const file = join(folder, 'out.parquet')
  const steps: number[] = []
  exportParquet(run, 'task', file, { onProgress: (progress) => steps.push(progress.records) })
  expect(steps).toEqual([10_000, 20_000, 25_000])
  let position = 0
  for await (const record of importParquet(file, 'task')) {
    expect(record.question).toBe(`q${position % 7}`)
    expect(record.id).toBe(`t${position++}`)
  }
  expect(position).toBe(25_000)
})

test('large records end a row group early', async () => {
  const folder = temporaryFolder()
  using run = createRun(folder, options)
  run.appendMany(
    'task',
    Array.from({ length: 5 }, (_, position) => task(`t${position}`, 'x'.repeat(8_000_000))),
  )
  const file = join(folder, 'out.parquet')
  const steps: number[] = []
  exportParquet(run, 'task', file, { onProgress: (progress) => steps.push(progress.records) })
  expect(steps).toEqual([3, 5])
  expect((await collect(importParquet(file, 'task'))).map(({ question }) => question.length)).toEqual(
    Array.from({ length: 5 }, () => 8_000_000),
  )
})

const columns = () => [
  { name: 'v', data: [1], type: 'INT32' as const },
  { name: 'id', data: ['a'], type: 'STRING' as const },
  { name: 'suite', data: ['s'], type: 'STRING' as const },
  { name: 'domain', data: ['d'], type: 'STRING' as const },
  { name: 'question', data: ['q'], type: 'STRING' as const },
  { name: 'gold', data: ['{"checker":"math","answer":"1"}'], type: 'STRING' as const },
]

async function importing(columnData: Parameters<typeof parquetWriteFile>[0]['columnData']) {
  const filename = join(temporaryFolder(), 'in.parquet')
  parquetWriteFile({ filename, columnData })
  return await collect(importParquet(filename, 'task'))
}

test('a file from another tool needs only the required columns', async () => {
  const [record] = await importing(columns())
  expect(record).toMatchObject({ v: 1, id: 'a', gold: { checker: 'math' }, meta: {} })
  const [json] = await importing(
    columns().map((column) =>
      column.name === 'gold'
        ? { ...column, type: 'JSON' as const, data: [{ checker: 'math', answer: '1' }] }
        : column,
    ),
  )
  expect(json?.gold).toEqual({ checker: 'math', answer: '1' })
})

test('rejects an invalid file and says why', async () => {
  await expect(importing([...columns(), { name: 'colour', data: ['red'] }])).rejects.toThrow(
    /column "colour"/,
  )
  await expect(importing(columns().filter(({ name }) => name !== 'question'))).rejects.toThrow(
    /no column "question"/,
  )
  const goldAs = (data: unknown[]) =>
    columns().map((column) => (column.name === 'gold' ? { ...column, data } : column)) as never
  await expect(importing(goldAs(['{']))).rejects.toThrow(
    /column "gold" in row 1 of in\.parquet is not JSON text/,
  )
  await expect(importing(goldAs(['{}']))).rejects.toThrow(/row 1 of in\.parquet is not a task: gold/)
  await expect(importing([...columns(), { name: 'level', data: [2n ** 60n + 1n] }])).rejects.toThrow(/level/)
  const file = join(temporaryFolder(), 'bad.parquet')
  writeFileSync(file, 'PAR1 no more')
  await expect(collect(importParquet(file, 'task'))).rejects.toThrow(/cannot read .*bad\.parquet as Parquet/)
  await expect(collect(importParquet(`${file}.missing`, 'task'))).rejects.toThrow(/cannot read/)
})

test('a failed export leaves nothing behind and does not touch an existing file', () => {
  const folder = temporaryFolder()
  const run = createRun(folder, { ...options, id: 'r' })
  run.append('task', task('a'))
  const file = join(folder, 'out.parquet')
  writeFileSync(file, 'earlier')
  const failing = { onProgress: () => expect.fail('stop') }
  expect(() => exportParquet(run, 'task', file, failing)).toThrow(/cannot write .*out\.parquet: stop/)
  expect(() => exportParquet(run, 'task', join(folder, 'no', 'out.parquet'))).toThrow(/cannot write/)
  run.close()
  expect(() => exportParquet(run, 'task', file)).toThrow(/is closed/)
  expect(readdirSync(folder).toSorted()).toEqual(['out.parquet', 'r'])
  expect(readFileSync(file, 'utf8')).toBe('earlier')
})

test('the generator of records covers every field of every kind', () => {
  const seen = new Map(recordKinds.map((kind) => [kind, new Set<string>()]))
  for (const { kind, record } of fc.sample(anyRecord, 500)) {
    for (const name of Object.keys(record)) seen.get(kind)?.add(name)
  }
  for (const kind of recordKinds)
    expect([...(seen.get(kind) ?? [])].toSorted()).toEqual(
      columnsOf(kind)
        .map(({ name }) => name)
        .toSorted(),
    )
})
