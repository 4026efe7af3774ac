import type { Gold } from '../../../schema/index.ts'
import { isObject } from '../files/raw-row.ts'
import type { Format } from '../format.ts'
import { type Row, RowProblem, textsOf, unpacked } from '../row.ts'
import { splitNamed } from '../split-names.ts'
import { codeGold, inputOutputTests } from './code.ts'

/**
 * Rows in verl's training format. `ground_truth` has no fixed schema; these shapes are in use: `{target: […]}`,
 * `{inputs, outputs, fn_name?}`, `{test_code, entry_point, import_prefix?}`, `{stdin, expected_output}`, and plain text,
 * which is math or not according to `ability` and `data_source`.
 */
export const verl: Format = {
  columns: ['data_source', 'prompt', 'reward_model with ground_truth'],
  draft(row) {
    const extra = row.object('extra_info')
    const source = row.optionalText('data_source') ?? 'verl'
    const truth = unpacked(row.object('reward_model')['ground_truth'])
    if (truth === undefined || truth === null || truth === '') {
      throw new RowProblem('it has no ground_truth in reward_model')
    }
    const isMath = /math|gsm8k|aime|amc|dapo|olympiad|numina/i.test(
      `${row.optionalText('ability')} ${source}`,
    )
    const gold = goldOf(truth, isMath)
    const domain = gold.checker === 'code' ? 'code' : gold.checker === 'math' ? 'math' : 'multihop'
    const [index] = textsOf(extra['index'])
    return {
      suite: source,
      domain,
      key: index === undefined ? undefined : [...textsOf(extra['split']), index].join('-'),
      question: questionOf(row, extra),
      gold,
      split: typeof extra['split'] === 'string' ? splitNamed(extra['split']) : undefined,
      meta: { ability: row.optionalText('ability') },
    }
  },
}

/** The question if the row has it, or else the last user message without the instructions before the question. */
function questionOf(row: Row, extra: Record<string, unknown>): string {
  if (typeof extra['question'] === 'string' && extra['question'] !== '') return extra['question']
  const prompt = unpacked(row.value('prompt'))
  if (typeof prompt === 'string') return prompt
  const userMessages = (Array.isArray(prompt) ? prompt : []).filter(
    (message) => isObject(message) && message['role'] === 'user',
  )
  const content: unknown = userMessages.at(-1)?.content
  if (typeof content !== 'string' || content === '') throw new RowProblem('its prompt has no user message')
  const mark = content.lastIndexOf('\n\nQuestion: ')
  return mark < 0 ? content : content.slice(mark + '\n\nQuestion: '.length)
}

function goldOf(truth: unknown, isMath: boolean): Gold {
  if (isObject(truth)) {
    const { target, test_code: test, entry_point: entry, stdin, expected_output: printed } = truth
    const answers = textsOf(target)
    if (answers.length > 0) return { checker: 'exact', answers }
    if (typeof test === 'string' && typeof entry === 'string') {
      return codeGold(
        [{ style: 'assert', code: `${test}\n\ncheck(${entry})\n` }],
        textsOf(truth['import_prefix'])[0],
      )
    }
    if (Array.isArray(stdin)) return codeGold(inputOutputTests({ inputs: stdin, outputs: printed }))
    return codeGold(inputOutputTests(truth))
  }
  const answers = textsOf(truth)
  if (answers.length === 0) throw new RowProblem('its ground_truth is empty')
  if (answers.every((answer) => /^\s*assert\b/.test(answer))) {
    return codeGold(answers.map((code) => ({ style: 'assert', code })))
  }
  return isMath && answers.length === 1
    ? { checker: 'math', answer: answers[0]! }
    : { checker: 'exact', answers }
}
