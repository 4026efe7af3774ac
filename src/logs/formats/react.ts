import { eachRecord, type LogFormat, type LoggedRun } from '../contract.ts'
import { withHandOffs } from '../hand-offs.ts'
import { asText, at, isObject, listOf, textOf } from '../json.ts'
import { headOf, messagesOf } from '../record-head.ts'
import { PieceItems } from '../text/pieces.ts'
import { questionIn, withoutLabel } from '../text/question.ts'
import { isReact, lastQuestion, readReact } from '../text/react-text.ts'
import { textsIn } from '../text/text-record.ts'
import { answerOf, isTextMessage, type TextMessage, textMessages } from './chatml.ts'

const AGENT = 'assistant'
const OBSERVATION = /^\s*\**Observation(?:[ \t]\d+)?:\**\s*/i

type Read = Omit<LoggedRun, 'where' | 'source'>

/**
 * Thoughts, actions and observations as labeled text: in the style of the ReAct paper (`Action: search[words]`), of
 * LangChain and CrewAI (`Action Input:`, `Final Answer:`), as rows, chats or files of trajectories.
 */
export const react: LogFormat = {
  name: 'react',
  title: 'ReAct text with Thought, Action and Observation: FireAct, KnowAgent, LangChain, CrewAI',
  matches: (value) => rowsOf(value).some(isReactRow),
  read: eachRecord((value) =>
    rowsOf(value).map((row) => {
      const read = readRow(row)
      const { question = read.question, ...head } = headOf(row, answerOf(read))
      return {
        ...read,
        ...head,
        source: [row],
        ...(question === undefined ? {} : { question: withoutLabel(question) }),
      }
    }),
  ),
  markup:
    /\**(?:Thought|Action Input|Action|ActionPath|Observation|Final Answer|Answer|Question)(?:[ \t]?\d+)?:\**|finish\[|search\[/gi,
}

/** One row, or a file of trajectories by id: `{ "12": { "prompt": …, "traj": … } }`. */
function rowsOf(value: unknown): unknown[] {
  if (!isObject(value)) return [value]
  const rows = Object.entries(value)
  const areRows = rows.length > 0 && rows.every(([, row]) => at(row, 'traj') !== undefined)
  return areRows ? rows.map(([id, row]) => ({ id, ...(row as object) })) : [value]
}

function isReactRow(row: unknown): boolean {
  const messages = messagesOf(row)
  if (areLines(messages)) return isReact(messages.join('\n'))
  if (messages.length === 0) return textsIn(row).some(({ text }) => isReact(text))
  if (!messages.every(isTextMessage)) return false
  // The labels of a turn may be those of the actions alone, and its observation the next turn.
  const first = messages.findIndex((message) => at(message, 'role') === 'assistant')
  const turns = textMessages(first === -1 ? [] : messages.slice(first))
  return isReact(turns.map(({ content }) => content).join('\n'))
}

/** The parts of a text that was kept as a list. */
const areLines = (list: readonly unknown[]): boolean =>
  list.length > 0 && list.every((line) => typeof line === 'string')

function readRow(row: unknown): Read {
  const messages = messagesOf(row)
  if (areLines(messages)) return readText(textOf(at(row, 'prompt')), listOf(messages).map(asText).join('\n'))
  if (messages.length > 0) return readChat(textMessages(messages))
  const [record] = textsIn(row)
  return readText(record?.prompt, record?.text ?? '')
}

function readChat(messages: readonly TextMessage[]): Read {
  const run = new PieceItems()
  let correct: boolean | undefined
  let question: string | undefined
  for (const [index, { role, content }] of messages.entries()) {
    if (role === 'assistant') {
      const next = messages[index + 1]
      const inventsLast = next !== undefined && next.role !== 'assistant' && OBSERVATION.test(next.content)
      const text = readReact(content, { inventsLast })
      if (text.before !== '') text.pieces.unshift(wordsBefore(content, text.before))
      run.add(AGENT, content, text.pieces)
      correct = text.correct ?? correct
    } else if (role === 'tool' || OBSERVATION.test(content)) {
      const verdict = run.isAnswered ? readReact(`Final Answer: -\n${content}`).correct : undefined
      correct = verdict ?? correct
      if (run.isAnswered) run.leaveOut(content, 'the verdict on the answer')
      else run.result(AGENT, content.replace(OBSERVATION, ''))
    } else {
      run.prompt(AGENT, [{ role, content }])
      if (role === 'user') question ??= isReact(content) ? questionIn(content).question : content
    }
  }
  return readyOf(run, question, correct)
}

/**
 * A transcript, whose real question is the last one; what is before it are instructions and examples. A text without
 * one answers its prompt, and what it has before the first label belongs to the question.
 */
function readText(prompt: string | undefined, text: string): Read {
  const run = new PieceItems()
  const whole = prompt !== undefined && !text.includes('Question:') && isReact(prompt) ? prompt + text : text
  const asked = lastQuestion(whole)
  const start = asked?.end ?? 0
  const rest = whole.slice(start)
  const { pieces, before, correct } = readReact(rest)
  const ownQuestion = asked?.question ?? prompt ?? ''
  const question = before === '' ? ownQuestion : `${ownQuestion}\n${before}`.trim()
  const instructions = whole.slice(0, asked?.start ?? 0).trim()
  const system = whole === text && asked !== undefined && prompt !== undefined ? `${prompt}\n` : ''
  run.prompt(AGENT, [
    { role: 'system', content: `${system}${instructions}`.trim() },
    { role: 'user', content: question },
  ])
  run.add(AGENT, rest, pieces)
  return readyOf(run, question, correct)
}

function readyOf(run: PieceItems, question: string | undefined, correct: boolean | undefined): Read {
  const { items, leftOut } = withHandOffs(run.finish())
  return {
    items,
    leftOut: [...run.leftOut, ...leftOut],
    ...(question === undefined || question === '' ? {} : { question }),
    ...(correct === undefined ? {} : { correct }),
  }
}

function wordsBefore(
  content: string,
  before: string,
): { kind: 'words'; start: number; end: number; text: string } {
  const start = content.indexOf(before)
  return { kind: 'words', start, end: start + before.length, text: before }
}
