import { basename } from 'node:path'
import { rawRows } from './files/raw-rows.ts'
import { type ColumnMap, columnNames, type PlainChecker } from './formats/plain.ts'
import { Row } from './row.ts'

/** What a file that nobody described is taken for. */
export interface Recognised {
  format: string
  /** Of a plain file. */
  checker?: PlainChecker
  /** The choice in words, for people. */
  note?: string
}

/** Rows that are looked at. */
const SAMPLE = 200
/** Longer answers are no names or values, and never the same word for word. */
const SHORT_ANSWER = 12

const hasAll = (row: Row, names: readonly string[]): boolean =>
  names.every((name) => row.value(name) !== undefined)

/** Tells from its first rows what a file holds, and how the answers of plain rows can be checked. */
export async function recognise(file: string, map?: ColumnMap, format?: string): Promise<Recognised> {
  const isPlain = map !== undefined || format === 'plain'
  const rows: Row[] = []
  for await (const raw of rawRows(file)) {
    if ('values' in raw) rows.push(new Row(raw.values))
    if (rows.length === SAMPLE) break
  }
  if (!isPlain) {
    if (rows.some((row) => hasAll(row, ['v', 'id', 'suite', 'gold']))) return { format: 'coa' }
    if (rows.some((row) => hasAll(row, ['data_source', 'reward_model']))) return { format: 'verl' }
  }
  const name = basename(file)
  if (rows.some((row) => row.texts(...columnNames('tests', map)).length > 0))
    return { format: 'plain', note: `${name}: answers are programs, checked by their tests` }
  const answers = rows.flatMap((row) => row.texts(...columnNames('answer', map)))
  if (answers.length === 0) return { format: 'plain' }
  if (!isPlain && answers.every((answer) => /####\s*\S+\s*$/.test(answer)))
    return { format: 'gsm8k', note: `${name}: answers end with #### and a number, as in GSM8K` }
  const { checker, why } = checkerFor(answers)
  return { format: 'plain', checker, note: `${name}: ${why} (--checker chooses another)` }
}

function checkerFor(answers: readonly string[]): { checker: PlainChecker; why: string } {
  if (answers.every(isMathematical))
    return { checker: 'math', why: 'answers are numbers or formulas, checked by value: math' }
  const long = answers.filter((answer) => answer.trim().split(/\s+/).length > SHORT_ANSWER).length
  return long > answers.length / 2
    ? { checker: 'judge', why: 'answers are long texts, compared by the model of [judge]: judge' }
    : { checker: 'exact', why: 'answers are short texts, compared as text: exact' }
}

/** A number as people write it (1,234.5, -3/4, $12, 50 %), or LaTeX. */
function isMathematical(answer: string): boolean {
  const text = answer.trim().replaceAll(/^\$+|\$+$/g, '')
  return (
    (/\d/.test(text) &&
      /^[-+−]?\s?[$€£]?\s?(?:\d[\d,_ ]*)?(?:\.\d+)?(?:e[-+]?\d+)?(?:\s?\/\s?\d+)?\s?%?$/i.test(
        text.trim(),
      )) ||
    /\\(?:d?frac|sqrt|boxed|pi|text|left|cdot|infty|pmatrix|begin)\b/.test(text)
  )
}
