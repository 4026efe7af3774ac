import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { type MetricRow, MetricsWriter, readMetrics } from './metrics-file.ts'

test('returns rows in order with the time; a diverged loss stays visible', () => {
  const path = join(temporaryFolder(), 'metrics.jsonl')
  const writer = new MetricsWriter(path)
  writer.append({ step: 1, loss: 0.5 })
  writer.append({
    step: 2,
    loss: Number.NaN,
    best: Number.NEGATIVE_INFINITY,
    t: 7,
    note: 'ü',
    ok: false,
    none: null,
  })
  writer.close()
  const rows = [...readMetrics(path)]
  expect(rows[0]).toEqual({ t: expect.any(Number), step: 1, loss: 0.5 })
  expect(rows[1]).toEqual({ t: 7, step: 2, loss: 'NaN', best: '-Infinity', note: 'ü', ok: false, none: null })
})

test('skips and reports damaged lines, and ignores an incomplete end', () => {
  const path = join(temporaryFolder(), 'metrics.jsonl')
  appendFileSync(path, '{"step":1}\n{"step":\n[2]\n{"step":3}\n{"step":4')
  const damages: object[] = []
  expect([...readMetrics(path, (damage) => damages.push(damage))]).toEqual([{ step: 1 }, { step: 3 }])
  expect(damages).toEqual([
    { line: 2, offset: 11 },
    { line: 3, offset: 20 },
  ])
})

test('rejects values that are not plain, without writing them', () => {
  const path = join(temporaryFolder(), 'metrics.jsonl')
  const writer = new MetricsWriter(path)
  expect(() => writer.append({ nested: { a: 1 } } as unknown as MetricRow)).toThrow(/metric nested/)
  writer.close()
  expect(readFileSync(path, 'utf8')).toBe('')
  expect([...readMetrics(join(temporaryFolder(), 'missing'))]).toEqual([])
})
