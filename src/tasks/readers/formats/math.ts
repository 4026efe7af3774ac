import { lastBox } from '../../../reward/index.ts'
import type { Format } from '../format.ts'
import { type Row, RowProblem, RowSkipped } from '../row.ts'

/** GSM8K: the answer is a worked solution whose last line is `#### 72`. Copies with only the number work too. */
export const gsm8k: Format = {
  columns: ['question', 'answer'],
  draft(row) {
    const written = row.text('answer')
    const mark = written.lastIndexOf('####')
    const answer = (mark < 0 ? written : written.slice(mark + 4)).trim().replaceAll(',', '')
    if (!/^-?\d+(?:\.\d+)?$/.test(answer)) throw new RowProblem('its answer has no "#### number" at the end')
    const solution = mark < 0 ? row.optionalText('solution') : written
    return {
      key: row.optionalText('id'),
      question: row.text('question'),
      gold: { checker: 'math', answer },
      meta: { solution },
    }
  },
}

/**
 * Problems with a short answer: MATH-500, AIME and AMC, in many slightly different copies. If there is no answer column,
 * the answer is the last \boxed{…} in the solution.
 */
export const shortMathAnswer: Format = {
  columns: ['problem or question', 'answer, or solution with \\boxed{…}'],
  draft: (row) => ({
    key: row.optionalText('unique_id', 'id', 'problem_idx'),
    question: row.text('problem', 'question'),
    gold: { checker: 'math', answer: answerOf(row) },
    level: wholeNumber(row.optionalNumber('level')),
    meta: {
      subject: row.optionalText('subject'),
      url: row.optionalText('url'),
      solution: row.optionalText('solution'),
    },
  }),
}

function answerOf(row: Row): string {
  const given = row.optionalText('answer', 'expected_answer')
  const solution = given === undefined ? row.optionalText('solution') : undefined
  const answer = given ?? (solution === undefined ? undefined : lastBox(solution))
  if (answer === undefined) throw new RowProblem('it has neither an answer nor a \\boxed{…} in the solution')
  return answer.trim()
}

/**
 * OlympiadBench, open-ended text problems. Proofs (no answer to check) and problems with a figure are skipped. The
 * tolerance (`error`) is kept in meta, but the checker compares exactly.
 */
export const olympiadBench: Format = {
  columns: ['question', 'final_answer'],
  ignored: [
    'image_1',
    'image_2',
    'image_3',
    'image_4',
    'image_5',
    'image_6',
    'image_7',
    'image_8',
    'image_9',
  ],
  draft(row) {
    const question = row.text('question')
    const context = row.optionalText('context')
    if (/<img_\d+>/.test(question + (context ?? '')) || row.optionalText('modality') === 'Multimodal') {
      throw new RowSkipped('it has a figure')
    }
    const answers = row.texts('final_answer')
    if (answers.length === 0) throw new RowSkipped('it is a proof without an answer to check')
    return {
      key: row.optionalText('id'),
      question: context === undefined ? question : `${context}\n\n${question}`,
      gold: { checker: 'math', answer: answers.map(withoutDollars).join(', ') },
      meta: {
        subfield: row.optionalText('subfield'),
        unit: row.optionalText('unit'),
        answerType: row.optionalText('answer_type'),
        tolerance: row.optionalText('error'),
        solution: row.texts('solution')[0],
      },
    }
  },
}

const withoutDollars = (answer: string): string => answer.trim().replace(/^\$([^$]*)\$$/, '$1')

const wholeNumber = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isInteger(value) ? value : undefined
