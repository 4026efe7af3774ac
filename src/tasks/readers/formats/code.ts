import type { Gold } from '../../../schema/index.ts'
import type { Format, TaskDraft } from '../format.ts'
import { type Row, RowProblem, RowSkipped, textsOf } from '../row.ts'

type CodeTest = Extract<Gold, { checker: 'code' }>['tests'][number]

/**
 * MBPP, the whole file and the sanitized one. The question shows the first test, which says how the function is
 * called; the others stay hidden.
 */
export const mbpp: Format = {
  columns: ['text or prompt', 'test_list'],
  draft(row) {
    const tests = row.texts('test_list', 'tests')
    if (tests.length === 0) throw new RowProblem('it has no test_list')
    const setup = [row.optionalText('test_setup_code', 'setup') ?? '', ...row.texts('test_imports')]
    const key = row.optionalText('task_id', 'id')
    return {
      key,
      split: mbppSplit(Number(key)),
      question: showFirstTest(row.text('text', 'prompt'), tests[0]!),
      gold: codeGold(
        tests.map((code) => ({ style: 'assert', code })),
        setup.filter((line) => line.trim() !== '').join('\n'),
      ),
      meta: { solution: row.optionalText('code', 'solution')?.replaceAll('\r\n', '\n') },
    }
  },
}

/** A question that says how the function is called. */
export const showFirstTest = (question: string, test: string): string =>
  `${question.trim()}\n\nYour function is called like this:\n${test.trim()}`

/** The ranges its authors name; the first ten are examples for prompts, and so no test. */
function mbppSplit(number: number): TaskDraft['split'] {
  if (!Number.isInteger(number)) return undefined
  return number > 600 || number <= 10 ? 'train' : number > 510 ? 'dev' : 'test'
}

/**
 * HumanEval. The prompt, a program up to the function's documentation, is also the set-up: an answer may go on from
 * there or be a program of its own.
 */
export const humanEval: Format = {
  columns: ['prompt', 'entry_point', 'test'],
  draft(row) {
    const [prompt, entry] = [row.text('prompt'), row.text('entry_point')]
    const canonical = row.optionalText('canonical_solution')
    return {
      key: row.text('task_id').replace(/^HumanEval\//, ''),
      question: `Complete this Python function. Answer with the whole program.\n\n\`\`\`python\n${prompt.trimEnd()}\n\`\`\``,
      gold: codeGold([{ style: 'assert', code: `${row.text('test')}\n\ncheck(${entry})\n` }], prompt),
      meta: { entry, solution: canonical === undefined ? undefined : prompt + canonical },
    }
  },
}

/** The languages of CodeContests' solutions, by number; only this one runs in the sandbox. */
const python3 = 3

/** CodeContests: a program that reads and prints. All tests count: public, private and generated. */
export const codeContests: Format = {
  columns: ['name', 'description', 'public_tests, private_tests or generated_tests with input and output'],
  ignored: ['incorrect_solutions', 'untranslated_description'],
  draft(row) {
    if (row.optionalText('input_file') !== undefined || row.optionalText('output_file') !== undefined) {
      throw new RowSkipped('it reads from a file or writes to one')
    }
    const tests = ['public_tests', 'private_tests', 'generated_tests'].flatMap((name) =>
      stdioTests(row, name),
    )
    if (tests.length === 0) throw new RowProblem('it has no tests')
    const { language = [], solution = [] } = row.object('solutions') as Record<string, unknown[]>
    return {
      key: row.text('name'),
      question: `${row.text('description').trim()}\n\nWrite a Python program that reads from standard input and prints to standard output.`,
      gold: codeGold(tests),
      meta: { difficulty: row.value('difficulty'), solution: solution[language.indexOf(python3)] },
    }
  },
}

function stdioTests(row: Row, name: string): CodeTest[] {
  const { input, output } = row.object(name)
  const [inputs, outputs] = [Array.isArray(input) ? input : [], Array.isArray(output) ? output : []]
  if (inputs.length !== outputs.length) throw new RowProblem(`its ${name} have not as many outputs as inputs`)
  return inputs.map((stdin, index) => ({
    style: 'stdio',
    stdin: String(stdin),
    stdout: String(outputs[index]),
  }))
}

export function codeGold(tests: CodeTest[], setup = ''): Gold {
  return { checker: 'code', tests, ...(setup === '' ? {} : { setup }) }
}

/** A list of calls with their results, as several data sets write them: `{inputs, outputs, fn_name?}`. */
export function inputOutputTests(data: Record<string, unknown>): CodeTest[] {
  const { inputs, outputs, fn_name: entry } = data
  if (!Array.isArray(inputs) || !Array.isArray(outputs) || inputs.length !== outputs.length) {
    throw new RowProblem('its inputs and outputs are no lists of the same length')
  }
  return inputs.map((input: unknown, index): CodeTest => {
    const output: unknown = outputs[index]
    if (typeof entry !== 'string') {
      return { style: 'stdio', stdin: textsOf(input).join('\n'), stdout: textsOf(output).join('\n') }
    }
    const args = (Array.isArray(input) ? input : [input]) as []
    // Some wrap the result in a list of one, as they do the arguments.
    const expected = (Array.isArray(output) && output.length === 1 ? output[0] : output) as null
    return { style: 'functional', entry, args, expected }
  })
}
