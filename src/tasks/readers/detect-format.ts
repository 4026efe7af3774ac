import { basename } from 'node:path'
import type { Gold } from '../../schema/index.ts'
import { rawRows } from './files/raw-rows.ts'
import { type ColumnMap, columnNames, type PlainChecker } from './formats/plain.ts'
import { Row } from './row.ts'

/** The detected format of a file. */
export interface DetectedFormat {
  format: string
  /** For the `plain` format. */
  checker?: PlainChecker
  /** Explains the choice to the user. */
  note?: string
}

const SAMPLED_ROWS = 200
/** Longer answers (in words) are not names or values and cannot be compared as text. */
const LONGEST_SHORT_ANSWER = 12

const hasAll = (row: Row, names: readonly string[]): boolean =>
  names.every((name) => row.value(name) !== undefined)

/** Detects the format of a file from its first rows, and the checker for answers in plain rows. */
export async function detectFormat(file: string, map?: ColumnMap, format?: string): Promise<DetectedFormat> {
  const isPlain = map !== undefined || format === 'plain'
  const rows: Row[] = []
  for await (const raw of rawRows(file)) {
    if ('values' in raw) rows.push(new Row(raw.values))
    if (rows.length === SAMPLED_ROWS) break
  }
  if (!isPlain) {
    if (rows.some((row) => hasAll(row, ['v', 'id', 'suite', 'gold']))) return { format: 'coa' }
    if (rows.some((row) => hasAll(row, ['data_source', 'reward_model']))) return { format: 'verl' }
  }
  const name = basename(file)
  if (rows.some((row) => row.texts(...columnNames('tests', map)).length > 0))
    return { format: 'plain', note: `${name}: answers are programs, checked by tests` }
  const answers = rows.flatMap((row) => row.texts(...columnNames('answer', map)))
  if (answers.length === 0) return { format: 'plain' }
  if (!isPlain && answers.every((answer) => /####\s*\S+\s*$/.test(answer)))
    return { format: 'gsm8k', note: `${name}: answers end with #### and a number, as in GSM8K` }
  const { checker, reason } = checkerFor(answers)
  return { format: 'plain', checker, note: `${name}: ${reason} (set --checker to change it)` }
}

/** How a single answer is compared with others. */
export function goldOfAnswer(answer: string): Gold {
  const { checker } = checkerFor([answer])
  return checker === 'exact' ? { checker, answers: [answer] } : { checker, answer }
}

function checkerFor(answers: readonly string[]): { checker: 'math' | 'judge' | 'exact'; reason: string } {
  if (answers.every(isMathematical))
    return { checker: 'math', reason: 'answers are numbers or formulas, checked by value: math' }
  const long = answers.filter((answer) => answer.trim().split(/\s+/).length > LONGEST_SHORT_ANSWER).length
  return long > answers.length / 2
    ? { checker: 'judge', reason: 'answers are long texts, compared by the [judge] model: judge' }
    : { checker: 'exact', reason: 'answers are short texts, compared as text: exact' }
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
