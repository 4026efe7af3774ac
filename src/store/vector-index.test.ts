import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VectorIndex } from './vector-index.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-vectors-'))
  file = join(folder, 'deep', 'v.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

const entry = (id: string, ...numbers: number[]) => ({ id, text: id, vector: Float32Array.from(numbers) })

describe('VectorIndex', () => {
  it('finds the nearest by angle, regardless of length', () => {
    using index = new VectorIndex(file, { model: 'm' })
    index.add([
      entry('east', 10, 0),
      entry('north', 0, 0.1),
      entry('north-east', 3, 3),
      entry('nowhere', 0, 0),
    ])
    const hits = index.search(Float32Array.from([0.2, 5]), 2)
    expect(hits.map(({ id }) => id)).toEqual(['north', 'north-east'])
    expect(hits[0]!.score).toBeCloseTo(0.9992, 3)
  })

  it('ranks like a plain sort by cosine', () => {
    const number = fc.integer({ min: -5, max: 5 })
    const vector = fc.tuple(number, number, number)
    fc.assert(
      fc.property(
        fc.array(vector, { minLength: 1, maxLength: 30 }),
        vector,
        fc.integer({ min: 1, max: 12 }),
        (rows, query, limit) => {
          using index = new VectorIndex(':memory:', { model: 'm' })
          index.add(rows.map((row, number) => entry(`${number}`, ...row)))
          const cosine = (row: readonly number[]): number => {
            const product = row.reduce((sum, value, column) => sum + value * query[column]!, 0)
            return product / (Math.hypot(...row) * Math.hypot(...query)) || 0
          }
          const wanted = rows.map(cosine).sort((left, right) => right - left)
          const scores = index.search(Float32Array.from(query), limit).map(({ score }) => score)
          expect(scores).toHaveLength(Math.min(limit, rows.length))
          scores.forEach((score, place) => {
            expect(score).toBeCloseTo(wanted[place]!, 4)
          })
        },
      ),
      { numRuns: 500 },
    )
  })

  it('knows which documents have no vector for their current text', () => {
    using index = new VectorIndex(file, { model: 'm' })
    index.add([entry('a', 1, 0), entry('b', 0, 1)])
    expect(
      index.missing([
        { id: 'a', text: 'a' },
        { id: 'b', text: 'changed' },
        { id: 'c', text: 'c' },
      ]),
    ).toEqual([
      { id: 'b', text: 'changed' },
      { id: 'c', text: 'c' },
    ])
    index.remove(['a', 'unknown'])
    expect(index.count()).toBe(1)
    expect(index.search(Float32Array.from([1, 0]), 5).map(({ id }) => id)).toEqual(['b'])
  })

  it('sees what another process has added', () => {
    using writer = new VectorIndex(file, { model: 'm' })
    writer.add([entry('a', 1, 0)])
    using reader = new VectorIndex(file, { model: 'm', readOnly: true })
    expect(reader.search(Float32Array.from([0, 1]), 1)[0]?.id).toBe('a')
    writer.add([entry('b', 0, 1)])
    expect(reader.search(Float32Array.from([0, 1]), 1)[0]?.id).toBe('b')
  })

  it('never mixes vectors of two models', () => {
    new VectorIndex(file, { model: 'm' })[Symbol.dispose]()
    expect(() => new VectorIndex(file, { model: 'other', readOnly: true })).toThrow('not other')
    using first = new VectorIndex(file, { model: 'm' })
    first.add([entry('a', 1, 0)])
    expect(() => first.add([entry('b', 1, 0, 0)])).toThrow('3 dimensions')
    expect(() => first.search(Float32Array.from([1]), 1)).toThrow('query has 1')
    using second = new VectorIndex(file, { model: 'other' })
    expect(second.count()).toBe(0)
    second.add([entry('b', 1, 0, 0)])
    expect(() => new VectorIndex(join(folder, 'none.db'), { model: 'm', readOnly: true })).toThrow(
      'cannot open',
    )
  })
})
