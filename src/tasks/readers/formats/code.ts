import type { Gold } from '../../../schema/index.ts'
import type { Format, TaskDraft } from '../format.ts'
import { type Row, RowProblem, RowSkipped, textsOf } from '../row.ts'

type CodeTest = Extract<Gold, { checker: 'code' }>['tests'][number]

/**
 * MBPP, full and sanitized. The question shows the first test, which tells how the function is called; the others stay
 * hidden.
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

export const showFirstTest = (question: string, test: string): string =>
  `${question.trim()}\n\nYour function is called like this:\n${test.trim()}`

/** The ranges given by the authors; the first ten are prompt examples and thus not in the test split. */
function mbppSplit(number: number): TaskDraft['split'] {
  if (!Number.isInteger(number)) return undefined
  return number > 600 || number <= 10 ? 'train' : number > 510 ? 'dev' : 'test'
}

/**
 * HumanEval. The prompt, code up to the function's docstring, is also the test setup: an answer may continue it or be a
 * complete program.
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

/** The language id of CodeContests solutions that can run in the sandbox. */
const python3 = 3

/** CodeContests: programs that read standard input. All tests count: public, private and generated. */
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
  if (inputs.length !== outputs.length)
    throw new RowProblem(`its ${name} do not have as many outputs as inputs`)
  return inputs.map((stdin, index) => ({
    style: 'stdio',
    stdin: String(stdin),
    stdout: String(outputs[index]),
  }))
}

export function codeGold(tests: CodeTest[], setup = ''): Gold {
  return { checker: 'code', tests, ...(setup === '' ? {} : { setup }) }
}

/** Tests in the format of several data sets: `{inputs, outputs, fn_name?}`. */
export function inputOutputTests(data: Record<string, unknown>): CodeTest[] {
  const { inputs, outputs, fn_name: entry } = data
  if (!Array.isArray(inputs) || !Array.isArray(outputs) || inputs.length !== outputs.length) {
    throw new RowProblem('its inputs and outputs are not lists of the same length')
  }
  return inputs.map((input: unknown, index): CodeTest => {
    const output: unknown = outputs[index]
    if (typeof entry !== 'string') {
      return { style: 'stdio', stdin: textsOf(input).join('\n'), stdout: textsOf(output).join('\n') }
    }
    const args = (Array.isArray(input) ? input : [input]) as []
    // Some data sets wrap the result in a list of one, like the arguments.
    const expected = (Array.isArray(output) && output.length === 1 ? output[0] : output) as null
    return { style: 'functional', entry, args, expected }
  })
}
