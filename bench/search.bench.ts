/**
 * Indexing and search speed on a corpus of real passages, compared with SQLite's own full-text search on the same
 * data.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { type TextDocument, TextIndex } from '../src/store/index.ts'
import { buildCorpus } from '../src/world/tools/index.ts'
import type { BenchResult } from './bench-result.ts'

interface Question {
  question: string
  supporting_titles: string[]
}

const data = process.env['COA_TEST_DATA']

function lines<T>(file: string): T[] {
  return gunzipSync(readFileSync(file))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}

/** Search times of the questions, sorted. */
function timed(questions: readonly Question[], search: (query: string) => unknown): number[] {
  for (const { question } of questions.slice(0, 50)) search(question)
  return questions
    .map(({ question }) => {
      const start = performance.now()
      search(question)
      return performance.now() - start
    })
    .sort((one, other) => one - other)
}

const at = (times: readonly number[], share: number): number => times[Math.floor(times.length * share)]!

/** The usual approach: FTS5 with Porter stemming, words joined by OR. */
function fullTextSearch(documents: readonly TextDocument[]): {
  search: (query: string) => unknown
  close: () => void
} {
  const database = new DatabaseSync(':memory:')
  database.exec("CREATE VIRTUAL TABLE passage USING fts5(title, text, tokenize = 'porter unicode61')")
  const insert = database.prepare('INSERT INTO passage (title, text) VALUES (?, ?)')
  database.exec('BEGIN')
  for (const { title, text } of documents) insert.run(title, text)
  database.exec('COMMIT')
  const find = database.prepare(
    "SELECT rowid FROM passage WHERE passage MATCH ? AND rank MATCH 'bm25(2.5, 1.0)' ORDER BY rank LIMIT 5",
  )
  const stopWords = new Set(
    'a an and are as at be by did do for from had has have in is it of on or that the to was were what when where which who with'.split(
      ' ',
    ),
  )
  return {
    search: (query) => {
      const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])].filter(
        (word) => !stopWords.has(word),
      )
      return find.all(words.map((word) => `"${word}"`).join(' OR '))
    },
    close: () => database.close(),
  }
}

export async function run(): Promise<BenchResult[]> {
  if (data === undefined) {
    console.warn('SKIPPED: search needs COA_TEST_DATA, the folder with multihop/corpus.jsonl.gz')
    return []
  }
  const corpus = join(data, 'multihop/corpus.jsonl.gz')
  const questions = lines<Question>(join(data, 'multihop/dev.jsonl.gz'))
  const folder = mkdtempSync(join(tmpdir(), 'coa-bench-search-'))
  try {
    const file = join(folder, 'corpus.db')
    const start = performance.now()
    const { documents } = await buildCorpus(file, [corpus])
    const seconds = (performance.now() - start) / 1000
    using index = new TextIndex(file, { readOnly: true })
    const ours = timed(questions, (query) => index.search(query, 5))
    let gold = 0
    let found = 0
    let complete = 0
    for (const { question, supporting_titles: titles } of questions) {
      const hits = new Set(index.search(question, 5).map(({ title }) => title))
      const here = titles.filter((title) => hits.has(title)).length
      gold += titles.length
      found += here
      if (here === titles.length) complete++
    }
    const fts = fullTextSearch(lines<TextDocument>(corpus))
    const theirs = timed(questions, fts.search)
    fts.close()
    const p95 = at(ours, 0.95)
    return [
      {
        name: `index of ${documents.toLocaleString('en')} passages`,
        value: seconds,
        unit: 's',
        goal: '< 5',
        met: seconds < 5,
      },
      { name: 'query, median', value: at(ours, 0.5), unit: 'ms' },
      { name: 'query, 95th percentile', value: p95, unit: 'ms', goal: '< 5', met: p95 < 5 },
      { name: 'FTS5 on the same data / ours, 95th percentile', value: at(theirs, 0.95) / p95, unit: '×' },
      { name: 'recall@5 of gold passages', value: found / gold, unit: 'share' },
      {
        name: 'questions with all gold passages in the top 5',
        value: complete / questions.length,
        unit: 'share',
      },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
