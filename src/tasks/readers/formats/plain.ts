import { UsageError } from '../../../base/errors/index.ts'
import { type Gold, Task } from '../../../schema/index.ts'
import type { Format, TaskDraft } from '../format.ts'
import { type Row, RowProblem } from '../row.ts'
import { splitNamed } from '../split-names.ts'
import { codeGold, showFirstTest } from './code.ts'

/** The task fields that columns of a user's file can be mapped to. */
const fields = [
  'id',
  'question',
  'answer',
  'aliases',
  'tests',
  'setup',
  'solution',
  'level',
  'split',
  'suite',
] as const
type Field = (typeof fields)[number]
export type ColumnMap = Partial<Record<Field, string>>
export type PlainChecker = Exclude<Gold['checker'], 'code'>

/** The column names that are tried, in order, for a field that is not mapped. */
const defaultColumns: Record<Field, readonly string[]> = {
  id: ['id', 'uid', 'task_id', '_id'],
  question: ['question', 'problem', 'prompt', 'query', 'text', 'instruction'],
  answer: ['answer', 'gold', 'target', 'golden_answers', 'answers', 'final_answer', 'ground_truth'],
  aliases: ['aliases', 'answer_aliases'],
  tests: ['tests', 'test_list'],
  setup: ['setup', 'test_setup_code'],
  solution: ['solution', 'code'],
  level: ['level'],
  split: ['split'],
  suite: ['suite', 'dataset'],
}

/** Parses a command-line option such as `question=problem,answer=gold`. */
export function parseColumnMap(text: string): ColumnMap {
  const pairs = text.split(',').filter((part) => part.trim() !== '')
  return columnMapOf(
    Object.fromEntries(
      pairs.map((pair) => pair.split('=', 2).map((part) => part.trim()) as [string, string]),
    ),
  )
}

/** Validates a mapping from the settings. */
export function columnMapOf(columns: Record<string, string>): ColumnMap {
  const map: ColumnMap = {}
  for (const [field, column] of Object.entries(columns)) {
    const known = fields.find((name) => name === field)
    if (known === undefined || column === undefined || column === '') {
      throw new UsageError(`"${field}${column === undefined ? '' : `=${column}`}" is not FIELD=COLUMN`, {
        fix: `For example: question=problem,answer=gold. The fields are ${fields.join(', ')}.`,
      })
    }
    map[known] = column
  }
  return map
}

/** The columns to try for a field, in order. */
export const columnNames = (field: Field, map: ColumnMap = {}): readonly string[] =>
  map[field] === undefined ? defaultColumns[field] : [map[field]]

export interface PlainOptions {
  map?: ColumnMap | undefined
  checker?: PlainChecker | undefined
  /** The project's grammar, for all rows. By default code and math rows get their own grammars. */
  grammar?: string | undefined
}

/** A user's own rows. Rows with tests are code; others use the given checker, by default exact match; `none` needs no answer. */
export function plainFormat({ map, checker = 'exact', grammar }: PlainOptions = {}): Format {
  const names = (field: Field): readonly string[] => columnNames(field, map)
  const listed = (field: Field): string => names(field).slice(0, 3).join(' or ')
  return {
    columns: [listed('question'), `${listed('answer')}, or ${listed('tests')}`],
    draft(row): TaskDraft {
      const gold = goldOf(row, names, checker)
      const isSpecial = gold.checker === 'code' || gold.checker === 'math'
      return {
        key: row.optionalText(...names('id')),
        question: withExampleCall(row.text(...names('question')), gold),
        gold,
        domain: grammar ?? (isSpecial ? gold.checker : undefined),
        suite: row.optionalText(...names('suite')),
        split: splitOf(row, names('split')),
        level: Task.shape.level.safeParse(row.optionalNumber(...names('level'))).data,
        meta: { solution: row.optionalText(...names('solution')) },
      }
    },
  }
}

/** Unknown split names are an error: guessing could put a test row into training. */
function splitOf(row: Row, names: readonly string[]): TaskDraft['split'] {
  const name = row.optionalText(...names)
  const split = name === undefined ? undefined : splitNamed(name)
  if (name === undefined || split !== undefined) return split
  throw new RowProblem(`its split ${JSON.stringify(name)} is not train, dev or test`)
}

/** Adds an example call if the question does not mention the function that the tests call. */
function withExampleCall(question: string, gold: Gold): string {
  const [test] = gold.checker === 'code' ? gold.tests : []
  if (test?.style !== 'assert') return question
  const called = /^\s*assert\s+(?:\w+\()*?([A-Za-z_]\w*)\s*\(/.exec(test.code)?.[1]
  const isNamed =
    called === undefined || question.includes(`${called}(`) || question.includes(`\`${called}\``)
  return isNamed ? question : showFirstTest(question, test.code)
}

function goldOf(row: Row, names: (field: Field) => readonly string[], checker: PlainChecker): Gold {
  const tests = row.texts(...names('tests'))
  if (tests.length > 0) {
    return codeGold(
      tests.map((code) => ({ style: 'assert', code })),
      row.optionalText(...names('setup')),
    )
  }
  if (checker === 'none') return { checker }
  const answers = row.texts(...names('answer'))
  if (answers.length === 0) throw new RowProblem(`it has no ${names('answer').slice(0, 3).join(' or ')}`)
  if (checker === 'exact') return { checker, answers: [...answers, ...row.texts(...names('aliases'))] }
  if (answers.length > 1)
    throw new RowProblem(`it has ${answers.length} answers, but ${checker} allows only one`)
  return { checker, answer: answers[0]! }
}

/** Tasks written by coa. */
export const coaTasks: Format = {
  columns: ['v', 'id', 'suite', 'domain', 'question', 'gold'],
  draft(row) {
    const parsed = Task.safeParse({
      v: row.value('v'),
      id: row.optionalText('id'),
      suite: row.optionalText('suite'),
      domain: row.optionalText('domain'),
      split: row.value('split'),
      question: row.optionalText('question'),
      gold: row.object('gold'),
      level: row.value('level'),
      meta: row.object('meta'),
    })
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      throw new RowProblem(`it is not a task: ${issue?.path.join('.')}: ${issue?.message}`)
    }
    const { id, suite, domain, question, gold, split, level, meta } = parsed.data
    return { id, suite, domain, question, gold, split, level, meta }
  },
}
