import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ModelError } from '../../../base/errors/index.ts'
import { TextIndex, VectorIndex } from '../../../store/index.ts'
import type { Embedder } from '../../models/index.ts'
import { buildCorpus, vectorFileOf } from './build-corpus.ts'

let folder: string
let corpus: string
const at = (name: string): string => join(folder, name)
const put = (name: string, content: string | Buffer): void => writeFileSync(at(name), content)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coa-corpus-'))
  corpus = at('corpus.db')
  mkdirSync(at('notes'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const rows = (...texts: string[]): string =>
  texts.map((text, index) => JSON.stringify({ id: `r${index}`, title: `t${index}`, text })).join('\n')

describe('buildCorpus', () => {
  it('reads JSON Lines, Markdown, HTML and text, plain and gzipped, from files and folders', async () => {
    put('notes/a.md', 'intro\n\n# Skarn Light\n\nelectric')
    put(
      'notes/b.html',
      '<title>Halvard</title><p>opera by <a href="c.html">Marrow</a> <a href="javascript:x()">x</a>',
    )
    put('notes/c.txt', 'plain')
    put('notes/skipped.bin', 'x')
    put(
      'rows.jsonl.gz',
      gzipSync('{"contents":"moon\\nfar","url":"https://example.org/m"}\nbroken\n{"id":1}\n7\n'),
    )
    put('d.md.gz', gzipSync('# Packed'))
    const result = await buildCorpus(corpus, [at('notes'), at('rows.jsonl.gz'), at('d.md.gz')])
    expect(result).toMatchObject({ files: 5, documents: 5, added: 5, skipped: 3 })
    expect(result.problems[0]).toContain('rows.jsonl.gz:2 is not JSON')
    using index = new TextIndex(corpus, { readOnly: true })
    expect(index.search('electric', 1)[0]).toMatchObject({ id: at('notes/a.md'), title: 'Skarn Light' })
    expect(index.search('opera', 1)[0]).toMatchObject({
      title: 'Halvard',
      text: 'opera by [Marrow](c.html) x',
    })
    expect(index.search('moon', 1)[0]).toMatchObject({ title: 'moon', url: 'https://example.org/m' })
  })

  it('counts new, changed, unchanged and removed documents', async () => {
    put('a.jsonl', rows('one', 'two', 'three'))
    put('notes/n.md', '# n')
    const build = () => buildCorpus(corpus, [at('a.jsonl'), at('notes')])
    expect(await build()).toMatchObject({ added: 4, changed: 0, unchanged: 0, removed: 0 })
    expect(await build()).toMatchObject({ added: 0, changed: 0, unchanged: 4, removed: 0 })
    put('a.jsonl', rows('one', 'deux'))
    put('notes/m.md', '# m')
    rmSync(at('notes/n.md'))
    expect(await build()).toMatchObject({ added: 1, changed: 1, unchanged: 1, removed: 2 })
    using index = new TextIndex(corpus, { readOnly: true })
    expect(index.count()).toBe(3)
  })

  it('keeps documents of other files, and those that moved between files', async () => {
    put('a.jsonl', rows('one', 'two'))
    put('b.jsonl', '{"id":"b","text":"other"}')
    await buildCorpus(corpus, [at('a.jsonl'), at('b.jsonl')])
    expect(await buildCorpus(corpus, [at('b.jsonl')])).toMatchObject({ documents: 1, removed: 0 })
    put('a.jsonl', '')
    put('c.jsonl', rows('one', 'two'))
    expect(await buildCorpus(corpus, [at('a.jsonl'), at('c.jsonl')])).toMatchObject({
      unchanged: 2,
      removed: 0,
    })
    using index = new TextIndex(corpus, { readOnly: true })
    expect(index.count()).toBe(3)
  })

  it('reports duplicate ids, and works without its list of sources', async () => {
    put('a.jsonl', `${rows('one')}\n${rows('uno')}`)
    const result = await buildCorpus(corpus, [at('a.jsonl')])
    expect(result).toMatchObject({ documents: 1, skipped: 1 })
    expect(result.problems[0]).toContain('duplicate document id "r0"')
    put('corpus.db.sources.json', '{broken')
    expect(await buildCorpus(corpus, [at('a.jsonl')])).toMatchObject({ unchanged: 1, removed: 0 })
  })

  it.each([
    ['missing.md', 'does not exist'],
    ['notes', 'no readable files'],
    ['x.pdf', 'unknown file type'],
    ['bad.jsonl.gz', 'cannot read'],
  ])('rejects %s', async (name, reason) => {
    put('x.pdf', 'x')
    put('bad.jsonl.gz', 'not packed')
    await expect(buildCorpus(corpus, [at(name)])).rejects.toThrow(reason)
  })
})

describe('buildCorpus with vectors', () => {
  let embedded: string[]
  const embedder: Embedder = {
    name: 'lengths',
    embed: async (texts) => {
      embedded.push(...texts)
      return texts.map((text) => Float32Array.from([text.length, 1]))
    },
  }
  beforeEach(() => {
    embedded = []
  })

  it('embeds only new or changed documents', async () => {
    put('a.jsonl', rows('one', 'two'))
    const build = () => buildCorpus(corpus, [at('a.jsonl')], { embedder })
    expect(await build()).toMatchObject({ added: 2, embedded: 2 })
    expect(await build()).toMatchObject({ unchanged: 2, embedded: 0 })
    put('a.jsonl', rows('one', 'deux', 'trois'))
    expect(await build()).toMatchObject({ embedded: 2 })
    expect(embedded).toEqual(['t0\none', 't1\ntwo', 't1\ndeux', 't2\ntrois'])
    put('a.jsonl', rows('one'))
    await build()
    using vectors = new VectorIndex(vectorFileOf(corpus), { model: 'lengths', readOnly: true })
    expect(vectors.count()).toBe(1)
  })

  it('adds vectors to a corpus without any, and resumes after a failure', async () => {
    put('a.jsonl', rows(...Array.from({ length: 700 }, (_, index) => `text ${index}`)))
    await buildCorpus(corpus, [at('a.jsonl')])
    let calls = 0
    const failing: Embedder = {
      ...embedder,
      embed: async (texts) => {
        if (++calls > 1) throw new ModelError('gone')
        return embedder.embed(texts)
      },
    }
    await expect(buildCorpus(corpus, [at('a.jsonl')], { embedder: failing })).rejects.toThrow('gone')
    expect(await buildCorpus(corpus, [at('a.jsonl')], { embedder })).toMatchObject({
      unchanged: 700,
      embedded: 188,
    })
  })

  it('keeps the vector of a moved document', async () => {
    put('a.jsonl', rows('one'))
    mkdirSync(at('in'))
    renameSync(at('a.jsonl'), at('in/a.jsonl'))
    await buildCorpus(corpus, [at('in')], { embedder })
    renameSync(at('in/a.jsonl'), at('in/b.jsonl'))
    expect(await buildCorpus(corpus, [at('in')], { embedder })).toMatchObject({ embedded: 0, removed: 0 })
  })
})
