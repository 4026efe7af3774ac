import { pythonRepr } from './python.ts'
import type { TeamRun, TeamTurn } from './team-run.ts'

/** Prints a run as a framework does. Thoughts and prompts are not printed. */
export type Printer = (run: TeamRun) => string

const rule = (character: string, title: string): string =>
  `${character.repeat(10)} ${title} ${character.repeat(10)}`

export const autogen: Printer = ({ question, turns }) =>
  [rule('-', 'TextMessage (user)'), question, ...turns.flatMap(autogenTurn)].join('\n')

function autogenTurn({ agent: { name }, text, calls }: TeamTurn): string[] {
  const message = (type: string, words: string): string[] => [rule('-', `${type} (${name})`), words]
  const asked = calls.map(
    ({ id, tool, input }) =>
      `FunctionCall(id=${pythonRepr(id)}, arguments=${pythonRepr(JSON.stringify(input))}, name=${pythonRepr(tool)})`,
  )
  const answered = calls.flatMap(({ id, tool, output, ok }) =>
    output === undefined
      ? []
      : [
          `FunctionExecutionResult(content=${pythonRepr(output)}, name=${pythonRepr(tool)}, call_id=${pythonRepr(id)}, is_error=${ok ? 'False' : 'True'})`,
        ],
  )
  return [
    ...(text === '' ? [] : message(calls.length === 0 ? 'TextMessage' : 'ThoughtEvent', text)),
    ...(asked.length === 0 ? [] : message('ToolCallRequestEvent', `[${asked.join(', ')}]`)),
    ...(answered.length === 0 ? [] : message('ToolCallExecutionEvent', `[${answered.join(', ')}]`)),
  ]
}

const banner = (kind: string): string => ` ${kind} Message `.padStart(47, '=').padEnd(80, '=')

export const langchain: Printer = ({ question, turns }) =>
  [banner('Human'), '', question, ...turns.flatMap(langchainTurn)].join('\n')

const langchainTurn = ({ agent: { name }, text, calls }: TeamTurn): string[] => [
  ...[banner('Ai'), `Name: ${name}`, '', text],
  ...(calls.length === 0 ? [] : ['Tool Calls:']),
  ...calls.flatMap(({ id, tool, input: { query, limit } }) => [
    ...[`  ${tool} (${id})`, ` Call ID: ${id}`, '  Args:', `    query: ${query}`, `    limit: ${limit}`],
  ]),
  ...calls.flatMap(({ tool, output }) =>
    output === undefined ? [] : [banner('Tool'), `Name: ${tool}`, '', output],
  ),
]

export const ag2: Printer = ({ question, turns }) =>
  [...said('user', [question]), ...turns.flatMap(ag2Turn)].join('\n')

const said = (name: string, lines: readonly string[]): string[] => [
  ...[`${name} (to chat_manager):`, '', ...lines, '', '-'.repeat(80)],
]

const ag2Turn = ({ agent: { name }, text, calls }: TeamTurn): string[] => [
  ...said(name, [
    text,
    ...calls.flatMap(({ id, tool, input }) => [
      `***** Suggested tool call (${id}): ${tool} *****`,
      'Arguments: ',
      JSON.stringify(input),
      '*'.repeat(43),
    ]),
  ]),
  ...calls.flatMap(({ tool, id, input }) => [
    `\n>>>>>>>> EXECUTING FUNCTION ${tool}...\nCall ID: ${id}\nInput arguments: ${JSON.stringify(input)}`,
  ]),
  ...calls.flatMap(({ id, output }) =>
    output === undefined
      ? []
      : said('executor', [`***** Response from calling tool (${id}) *****`, output, '*'.repeat(42)]),
  ),
]
