import { parsedOr } from '../json.ts'
import { pythonValue } from '../python-literal.ts'

/** What a framework prints while its agents work, as the messages that it prints: one list for each run. */
export interface ConsoleDialect {
  isOwn: (text: string) => boolean
  /** Lines that are no message. */
  markup: RegExp
  messages: (text: string) => object[][]
}

interface Block {
  header: RegExpExecArray
  body: string
}

/** The text under each header. */
function blocksOf(text: string, header: RegExp): Block[] {
  const found = [...text.matchAll(header)]
  return found.map((match, index) => ({
    header: match,
    body: text.slice(match.index + match[0].length, found[index + 1]?.index).trim(),
  }))
}

const AUTOGEN = /^-{5,20} (\w{3,60}) \(([^\n()]{1,80})\) -{5,20}$/gm

/** `Console` of AutoGen 0.4 and later: a line with the kind of a message and its source, then its text. */
const autogen: ConsoleDialect = {
  isOwn: (text) => new RegExp(AUTOGEN.source, 'm').test(text),
  markup: new RegExp(`${AUTOGEN.source}|^-{5,20} Summary -{5,20}$`, 'gm'),
  messages: (text) => [
    blocksOf(text.replace(/^-{5,20} Summary -{5,20}$[\s\S]*/m, ''), AUTOGEN).map(({ header, body }) => {
      const [, type, source] = header
      const isEvent = type!.startsWith('ToolCall') && type!.endsWith('Event')
      const [, target] = (type === 'HandoffMessage' && /^Transferred to ([^,\n]{1,80}),/.exec(body)) || []
      const content = isEvent ? (pythonValue(body) ?? body) : body
      return { type, source, content, ...(target === undefined ? {} : { target }) }
    }),
  ],
}

const LANGCHAIN = /^={5,80} (Human|Ai|System|Tool) Message(?: Chunk)? ={5,80}$/gm

/** `pretty_print()` of LangChain's messages. */
const langchain: ConsoleDialect = {
  isOwn: (text) => new RegExp(LANGCHAIN.source, 'm').test(text),
  markup: new RegExp(`${LANGCHAIN.source}|^[\\w -]{1,80}:(?: |$)|^\\S{1,80} \\(|\\)$`, 'gm'),
  messages: (text) => [
    blocksOf(text, LANGCHAIN).map(({ header, body }) => {
      const [, name] = /^Name: (.+)\n*/.exec(body) ?? []
      const said = body.replace(/^Name: .+\n*/, '')
      const at = /^Tool Calls:$/m.exec(said)?.index ?? said.length
      return {
        type: header[1]!.toLowerCase(),
        content: said.slice(0, at).trim(),
        ...(name === undefined ? {} : { name }),
        tool_calls: callsIn(said.slice(at)),
      }
    }),
  ],
}

function callsIn(text: string): object[] {
  return blocksOf(text, /^ {2}(\S+) \(([^\n()]{1,80})\)$/gm).map(({ header: [, name, id], body }) => {
    const args = blocksOf(body, /^ {4}([\w-]{1,80}): /gm).map(({ header: [, key], body: value }) => {
      const read = parsedOr(value)
      return [key!, typeof read === 'string' ? value : read] as const
    })
    return { name, id, args: Object.fromEntries(args), type: 'tool_call' }
  })
}

const AG2 = /^(\S[^\n()]{0,80}) \(to ([^\n()]{1,80})\):$/gm
const AG2_LINES =
  /^-{80}$|^Next speaker: .{1,80}$|^>{8} (?:EXECUTING|EXECUTED|USING|TERMINATING|NO HUMAN)[^\n]*(?:\n(?:Call ID|Input arguments|Output|Execution status):[^\n]*)*$/gm
const CALL = /^\*{5} Suggested (?:tool|function) call(?: \(([^\n()]{1,80})\))?: (\S+) \*{5}$/gm
const RESULT = /^\*{5} Response from calling (?:tool|function)(?: \(([^\n()]{1,80})\))? \*{5}$/gm
const STARS = /^\*{20,100}$/gm

/** What AutoGen 0.2 and AG2 print: who says something to whom, then the text. */
const ag2: ConsoleDialect = {
  isOwn: (text) => new RegExp(AG2.source, 'm').test(text) && /^-{80}$/m.test(text),
  markup: new RegExp([AG2, AG2_LINES, CALL, RESULT, STARS].map(({ source }) => source).join('|'), 'gm'),
  messages: (text) =>
    text
      .split(/^>{8} TERMINATING RUN.*$/m)
      .map((run) => blocksOf(run, AG2).flatMap(ag2Messages))
      .filter((messages) => messages.length > 0),
}

function ag2Messages({ header: [, name], body }: Block): object[] {
  // Each of several results ends with a line, and so does a message.
  const results = blocksOf(body, RESULT).map(({ header: [, id], body: output }) => ({
    role: 'tool',
    name,
    tool_call_id: id,
    content: beforeStars(output),
  }))
  if (results.length > 0) return results
  const said = body
    .split(/^-{80}$/m)[0]!
    .replace(AG2_LINES, '')
    .trim()
  const calls = blocksOf(said, CALL).map(({ header: [, id, tool], body: given }) => ({
    id,
    type: 'function',
    function: { name: tool, arguments: beforeStars(given).replace(/^Arguments:\s*/, '') },
  }))
  const first = new RegExp(CALL.source, 'm').exec(said)
  const content = said.slice(0, first?.index).trim()
  return [{ role: 'assistant', name, content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }]
}

const beforeStars = (text: string): string => text.split(new RegExp(STARS.source, 'm'))[0]!.trim()

export const consoleDialects: readonly (readonly [
  format: 'autogen' | 'langchain' | 'ag2',
  dialect: ConsoleDialect,
])[] = [
  ['autogen', autogen],
  ['langchain', langchain],
  ['ag2', ag2],
]
