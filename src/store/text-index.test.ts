import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { howMany } from '../../test/how-many.ts'
import { type TextDocument, TextIndex } from './text-index.ts'

let folder: string
let index: TextIndex
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-text-index-'))
  index = new TextIndex(join(folder, 'corpus.sqlite'))
})
afterEach(() => {
  index.close()
  rmSync(folder, { recursive: true })
})

const documents = [
  {
    id: 'skarn',
    title: 'Skarn Light',
    text: 'A lighthouse that guards the harbour of Varnholm.',
    url: 'https://example.org/skarn',
  },
  { id: 'teglen', title: 'Teglen', text: 'A town on the river Osk, where Ilse Marrow was born.' },
  { id: 'halvard', title: 'Halvard', text: 'An opera by Ilse Marrow about the harbour.' },
]

/** BM25 by definition, with titles weighted 2.5; the words here are their own stems. */
function bm25(all: readonly TextDocument[], query: readonly string[]): Map<string, number> {
  const rows = all.map(({ id, title, text }) => {
    const [head, body] = [title, text].map((part) => part.split(' ').filter((word) => word !== ''))
    return { id, head: head!, body: body!, length: head!.length + body!.length }
  })
  const worded = rows.filter(({ length }) => length > 0)
  const mean = worded.reduce((sum, { length }) => sum + length, 0) / worded.length
  const scores = new Map<string, number>()
  for (const word of query) {
    const holding = worded.filter(({ head, body }) => head.includes(word) || body.includes(word))
    const rarity = Math.log(1 + (worded.length - holding.length + 0.5) / (holding.length + 0.5))
    for (const { id, head, body, length } of holding) {
      const times = (part: string[]): number => part.filter((other) => other === word).length
      const frequency = 2.5 * times(head) + times(body)
      const part = (frequency * 2.2) / (frequency + 1.2 * (0.25 + (0.75 * length) / mean))
      scores.set(id, (scores.get(id) ?? 0) + rarity * part)
    }
  }
  return scores
}

describe('TextIndex', () => {
  it('finds by title and text, best first, in any word form', () => {
    index.add(documents)
    expect(index.search('Which lighthouses guard Varnholm?', 5)[0]).toMatchObject({
      id: 'skarn',
      url: 'https://example.org/skarn',
    })
    expect(index.search('teglen', 5).map((hit) => hit.id)).toEqual(['teglen'])
    expect(index.search('harbour', 1).length).toBe(1)
    expect(index.search('nothing of this kind', 5)).toEqual([])
    expect(index.get('teglen')?.title).toBe('Teglen')
  })

  it('is incremental: the same text changes nothing, a different one replaces', () => {
    expect(index.add(documents)).toEqual({ added: 3, replaced: 0, unchanged: 0 })
    expect(index.add(documents)).toEqual({ added: 0, replaced: 0, unchanged: 3 })
    expect(index.add([{ id: 'teglen', title: 'Teglen', text: 'A village.' }])).toEqual({
      added: 0,
      replaced: 1,
      unchanged: 0,
    })
    expect(index.search('river', 5)).toEqual([])
    expect(index.count()).toBe(3)
  })

  it('ranks by BM25, regardless of the order of additions', () => {
    const word = fc.constantFrom('osk', 'light', 'harbour', 'opera', 'town', 'marrow', 'birch')
    const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.record({ title: text, text }), { maxLength: 6 }), { maxLength: 8 }),
        fc.uniqueArray(word, { minLength: 1, maxLength: 4 }),
        (batches, query) => {
          using fresh = new TextIndex(':memory:')
          const all: TextDocument[] = []
          for (const batch of batches) {
            const added = batch.map((entry, at) => ({ id: String(all.length + at), ...entry }))
            fresh.add(added)
            all.push(...added)
          }
          const found = fresh.search(query.join(' '), 100)
          const wanted = bm25(all, query)
          expect(found.map(({ id }) => id).sort()).toEqual([...wanted.keys()].sort())
          for (const { id, score } of found) expect(score).toBeCloseTo(wanted.get(id)!, 3)
          expect(found.every(({ score }, at) => at === 0 || score <= found[at - 1]!.score)).toBe(true)
        },
      ),
      { numRuns: howMany(2000) },
    )
  })

  it('finds what it contains and never what was removed or replaced', () => {
    const change = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      word: fc.constantFrom('osk', 'birch', null),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        using fresh = new TextIndex(':memory:')
        const there = new Map<string, string>()
        for (const { id, word } of changes) {
          if (word === null) {
            expect(fresh.remove([id])).toBe(there.delete(id) ? 1 : 0)
          } else {
            there.set(id, word)
            fresh.add([{ id, title: '', text: word }])
          }
        }
        for (const word of ['osk', 'birch']) {
          const wanted = [...there].filter(([, text]) => text === word).map(([id]) => id)
          expect(
            fresh
              .search(word, 10)
              .map(({ id }) => id)
              .sort(),
          ).toEqual(wanted.sort())
        }
        expect(fresh.count()).toBe(there.size)
      }),
      { numRuns: howMany(1000) },
    )
  })

  it('shows a reader what another connection has added', () => {
    using reader = new TextIndex(join(folder, 'corpus.sqlite'), { readOnly: true })
    index.add(documents.slice(0, 1))
    expect(reader.search('harbour', 5).length).toBe(1)
    index.add(documents)
    expect(reader.search('harbour', 5).length).toBe(2)
  })

  it('treats any query as words, never as operators', () => {
    index.add(documents)
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.constantFrom('"', 'a" OR "b', 'NEAR(', 'title:x', '*', 'AND', '-x', '(', '{', 'the'),
        ),
        (query) => {
          expect(index.search(query, 3).length).toBeLessThanOrEqual(3)
        },
      ),
      { numRuns: howMany(10_000) },
    )
    expect(index.search('teglen AND halvard', 5).length).toBe(2)
  })

  it('reports how to fix a file that is not an index', () => {
    writeFileSync(
      join(folder, 'bad.sqlite'),
      'not a database, but long enough to be taken for one'.repeat(20),
    )
    expect(() => new TextIndex(join(folder, 'bad.sqlite'))).toThrow('cannot open the text index')
    expect(() => new TextIndex(join(folder, 'missing.sqlite'), { readOnly: true })).toThrow(
      'cannot open the text index',
    )
  })
})
