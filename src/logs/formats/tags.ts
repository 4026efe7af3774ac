import { eachRecord, type LogFormat, type LoggedRun } from '../contract.ts'
import { headOf, messagesOf } from '../record-head.ts'
import { messagesInText, templateMarks } from '../text/chat-template.ts'
import { chatTags, type TagDialect, tagDialects } from '../text/dialects.ts'
import { PieceItems } from '../text/pieces.ts'
import { questionIn, withoutLabel } from '../text/question.ts'
import { dialectOf, piecesOf } from '../text/tagged-text.ts'
import { type TextRecord, textsIn } from '../text/text-record.ts'
import { answerOf, dialectOfChat, readTaggedChat } from './chatml.ts'

const AGENT = 'assistant'

/**
 * Texts in which a model's words and the outputs of its tools alternate between tags or fences: Search-R1, ReTool, ToRA and
 * chains of agents. Decoded rollouts are read turn by turn where they have the marks of a chat template.
 */
export const tags: LogFormat = {
  name: 'tags',
  title: 'texts with tags: Search-R1, ReTool, ToRA, chains of agents (AFM), decoded rollouts',
  matches: (value) => messagesOf(value).length === 0 && textsIn(value).some(isTranscript),
  read: eachRecord((value) =>
    textsIn(value).map((record, index, all) => {
      const read = readText(record)
      const head = headOf(value, answerOf(read))
      const id = head.id === undefined || all.length === 1 ? {} : { id: `${head.id}-${index + 1}` }
      // A field with only the question is better than what the prompt around it looks like.
      const question = head.question ?? read.question
      return { ...read, ...head, ...id, ...(question === undefined ? {} : { question }) }
    }),
  ),
  markup: new RegExp(`</?\\w+>|${templateMarks.source}|\`\`\`\\w*`, 'g'),
}

/** Decoded tokens show their turns, with tags or without. */
const isTranscript = (record: TextRecord): boolean =>
  dialectIn(record) !== undefined || chatIn(record.prompt, record.text) !== undefined

function dialectIn({ prompt, text }: TextRecord): TagDialect | undefined {
  const messages = chatIn(prompt, text)
  return messages === undefined ? dialectOf(text, [chatTags, ...tagDialects]) : dialectOfChat(messages)
}

/** The turns of a text with the marks of a chat template, in the text itself or in the prompt that it continues. */
function chatIn(prompt: string | undefined, text: string): { role: string; content: string }[] | undefined {
  if (prompt !== undefined && /<\|im_start\|>|<\|start_header_id\|>/.test(prompt))
    return messagesInText(prompt + text)
  return messagesInText(text)
}

function readText({ prompt, text }: TextRecord): Pick<LoggedRun, 'items' | 'leftOut' | 'question'> {
  const messages = chatIn(prompt, text)
  if (messages !== undefined) return readTaggedChat(messages, dialectOfChat(messages) ?? chatTags)
  const dialect = dialectOf(text, [chatTags, ...tagDialects]) ?? chatTags
  const run = new PieceItems()
  const isInstruction = prompt !== undefined && /<\w+>/.test(prompt)
  if (prompt !== undefined) run.prompt(AGENT, [{ role: 'user', content: prompt }])
  run.add(AGENT, text, piecesOf(text, dialect))
  const question = prompt === undefined ? undefined : isInstruction ? questionIn(prompt).question : prompt
  return {
    items: run.finish(),
    leftOut: run.leftOut,
    ...(question === undefined ? {} : { question: withoutLabel(question) }),
  }
}
