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
  markup: new RegExp(`${LANGCHAIN.source}|^Name: |^Tool Calls:$|^ Call ID: |^  Args:$`, 'gm'),
  messages: (text) => [
    blocksOf(text, LANGCHAIN).map(({ header, body }) => {
      const [, name] = /^Name: (.+)\n*/.exec(body) ?? []
      // Each of several results ends with a line, and so does a message.
  const results = blocksOf(body, RESULT).map(({ header: [, id], body: output }) => ({
    role: 'tool',
    name,
    tool_call_id: id,
    content: output.split(new RegExp(STARS.source, 'm'))[0]!.trim(),
  }))
  if (results.length > 0) return results
  const said = body
    .split(/^-{80}$/m)[0]!
    .replace(AG2_LINES, '')
    .trim()
  const calls = blocksOf(said, CALL).map(({ header: [, id, tool], body: given }) => ({
    id,
    type: 'function',
    function: {
      name: tool,
      arguments: given
        .split(new RegExp(STARS.source, 'm'))[0]!
        .replace(/^Arguments:\s*/, '')
        .trim(),
    },
  }))
  const first = new RegExp(CALL.source, 'm').exec(said)
  const content = said.slice(0, first?.index).trim()
  return [{ role: 'assistant', name, content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }]
}

export const consoleDialects: readonly (readonly [
  format: 'autogen' | 'langchain' | 'ag2',
  ConsoleDialect,
])[] = [
  ['autogen', autogen],
  ['langchain', langchain],
  ['ag2', ag2],
]
