import { eachRecord, type LogFormat, type LoggedRun } from '../contract.ts'
import { asText, at } from '../json.ts'
import { contentText, isOpenAiMessage } from '../messages/openai.ts'
import { headOf, messagesOf, toolsOf } from '../record-head.ts'
import { chatTags, type TagDialect, tagDialects } from '../text/dialects.ts'
import { PieceItems } from '../text/pieces.ts'
import { questionIn } from '../text/question.ts'
import { dialectOf, piecesOf, resultsIn } from '../text/tagged-text.ts'

export interface TextMessage {
  role: string
  content: string
}

/**
 * Chats in which the model writes thoughts, calls and the answer as tags in its text, as Qwen's template has them; the
 * results come in the next turn of the user or of the tool.
 */
export const chatml: LogFormat = {
  name: 'chatml',
  title: 'chats with <think>, <tool_call>, <tool_response> and <answer> in the text',
  matches: (value) => {
    const messages = messagesOf(value)
    const isText = messages.length > 0 && messages.every(isTextMessage)
    return isText && dialectOfChat(textMessages(messages)) !== undefined
  },
  read: eachRecord(readRecord),
  markup: /<\/?\w+>|```\w*/g,
}

/** A message that is only text. Calls outside of it are OpenAI's, and names are those of several agents. */
export const isTextMessage = (message: unknown): boolean =>
  isOpenAiMessage(message) &&
  ['tool_calls', 'function_call'].every((key) => (at(message, key) ?? null) === null) &&
  (at(message, 'role') === 'tool' || at(message, 'name') === undefined)

export function textMessages(messages: readonly unknown[]): TextMessage[] {
  return messages.map((message) => ({
    role: asText(at(message, 'role')),
    content: contentText(at(message, 'content')),
  }))
}

/** Judged by what follows the first words of the model; instructions name tags, too. */
export function dialectOfChat(messages: readonly TextMessage[]): TagDialect | undefined {
  const first = messages.findIndex(({ role }) => role === 'assistant')
  if (first === -1) return undefined
  const text = messages.slice(first).map(({ content }) => content)
  return dialectOf(text.join('\n'), [chatTags, ...tagDialects])
}

function readRecord(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const messages = textMessages(messagesOf(value))
  const read = readTaggedChat(messages, dialectOfChat(messages) ?? chatTags)
  return {
    ...read,
    ...headOf(value, answerOf(read)),
    tools: [...toolsOf(at(value, 'functions')), ...toolsOf(at(value, 'tools'))],
  }
}

export const answerOf = ({ items }: Pick<LoggedRun, 'items'>): string | undefined =>
  items.findLast((item) => item.type === 'answered')?.text

const AGENT = 'assistant'

/** A chat from its first prompt on, or from the first turn of the model if the prompt is known. */
export function readTaggedChat(
  messages: readonly TextMessage[],
  dialect: TagDialect,
): Pick<LoggedRun, 'items' | 'leftOut'> & { question?: string } {
  const run = new PieceItems()
  let prompt: TextMessage[] = []
  let question: string | undefined
  const ask = (): void => {
    run.prompt(AGENT, prompt)
    prompt = []
  }
  for (const { role, content } of messages) {
    const results = role === 'assistant' || role === 'system' ? undefined : resultsIn(content, dialect)
    if (role === 'assistant') {
      ask()
      run.add(AGENT, content, piecesOf(content, dialect))
    } else if (role === 'tool' || results !== undefined) {
      ask()
      for (const output of results ?? [content]) run.result(AGENT, output)
    } else {
      prompt.push({ role, content })
      if (role === 'user') question ??= namesTags(content, dialect) ? questionIn(content).question : content
    }
  }
  ask()
  return {
    items: run.finish(),
    leftOut: run.leftOut,
    ...(question === undefined ? {} : { question }),
  }
}

/** Instructions come before the question in the same turn. */
const namesTags = (content: string, { tags }: TagDialect): boolean =>
  content.includes('<tools>') || [...tags.keys()].some((name) => content.includes(`<${name}>`))
