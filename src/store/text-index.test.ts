import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TextIndex } from './text-index.ts'

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

describe('TextIndex', () => {
  it('finds by title and text, best first, whatever form the word has', () => {
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

  it('is incremental: the same again changes nothing, another text replaces', () => {
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

  it('takes any query as words, never as operators', () => {
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
      { numRuns: 10_000 },
    )
    expect(index.search('teglen AND halvard', 5).length).toBe(2)
  })

  it('says what to do about a file that is no index', () => {
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
