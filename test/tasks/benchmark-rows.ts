import { createHash } from 'node:crypto'

/** A row with this question in the format of a benchmark. */
type RowOf = (question: string, number: number) => Record<string, unknown>

function sealed(text: string, canary: string): string {
  const key = createHash('sha256').update(canary).digest()
  return Buffer.from(Buffer.from(text).map((byte, at) => byte ^ key[at % key.length]!)).toString('base64')
}

const io = { input: ['1\n'], output: ['2\n'] }
const problem: RowOf = (text) => ({ problem: text, answer: '7' })
const asked: RowOf = (question, id) => ({ id: `q${id}`, question, answer: 'Elm' })

export const benchmarkRows: Record<string, RowOf> = {
  gsm8k: (question) => ({ question, answer: 'So 3 + 4 = 7.\n#### 7' }),
  'math-500': problem,
  aime24: problem,
  aime25: problem,
  amc23: problem,
  olympiadbench: (question, id) => ({ id, question, final_answer: ['7'] }),
  mbpp: (text, id) => ({ task_id: 1 + ((id * 97) % 974), text, test_list: ['assert f(1) == 2'] }),
  humaneval: (text, id) => ({
    task_id: `HumanEval/${id}`,
    prompt: `def f(n):\n    """${JSON.stringify(text)}"""\n`,
    entry_point: 'f',
    test: 'def check(candidate):\n    assert candidate(1) == 2\n',
  }),
  livecodebench: (question_content, id) => ({
    question_id: `q${id}`,
    question_content,
    public_test_cases: JSON.stringify([{ input: '1\n', output: '2\n', testtype: 'stdin' }]),
    private_test_cases: '[]',
    metadata: '{}',
  }),
  codecontests: (description, id) => ({
    name: `${id}_A`,
    description,
    public_tests: io,
    private_tests: io,
    generated_tests: io,
    solutions: { language: [], solution: [] },
  }),
  hotpotqa: asked,
  '2wiki': asked,
  musique: (question, id) => ({ ...asked(question, id), answerable: true }),
  nq: (question) => ({ question, answer: ['Elm'] }),
  triviaqa: (question, id) => ({ question, question_id: `q${id}`, answer: { value: 'Elm', aliases: [] } }),
  popqa: (question, id) => ({ id, question, possible_answers: '["Elm"]' }),
  bamboogle: asked,
  gaia: (Question, id) => ({ task_id: `g${id}`, Question, Level: 1, 'Final answer': '7', file_name: '' }),
  browsecomp: (text) => ({
    problem: sealed(text, 'a canary'),
    answer: sealed('Ida', 'a canary'),
    canary: 'a canary',
  }),
  hle: (question, id) => ({ id: `h${id}`, question, answer: 'B', image: '' }),
  webwalkerqa: (question) => ({ question, answer: 'In May.', root_url: 'https://example.org/' }),
}
