import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TextIndex } from '../../src/store/index.ts'
import { buildCorpus } from '../../src/world/tools/index.ts'
import { dataFile, readJsonLines } from './shared-data.ts'

const corpus = dataFile('multihop/corpus.jsonl.gz')

it.skipIf(corpus === null)('search finds the gold passages of real questions', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coa-recall-'))
  try {
    const file = join(folder, 'corpus.db')
    expect(await buildCorpus(file, [corpus!])).toMatchObject({ added: 29_631, skipped: 0 })
    expect(await buildCorpus(file, [corpus!])).toMatchObject({ added: 0, unchanged: 29_631 })
    using index = new TextIndex(file, { readOnly: true })
    const questions = readJsonLines<{ question: string; supporting_titles: string[] }>(
      dataFile('multihop/dev.jsonl.gz')!,
    )
    const recall = questions.map(({ question, supporting_titles: titles }) => {
      const hits = new Set(index.search(question, 5).map(({ title }) => title))
      return [titles.length, titles.filter((title) => hits.has(title)).length] as const
    })
    const gold = recall.reduce((sum, [all]) => sum + all, 0)
    const found = recall.reduce((sum, [, some]) => sum + some, 0)
    console.log(`recall@5 of gold passages on dev: ${(found / gold).toFixed(3)} (${found} of ${gold})`)
    expect(found / gold).toBeGreaterThan(0.7)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
