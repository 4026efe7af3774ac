import { eachRecord, type LogFormat, type LoggedRun } from '../contract.ts'
import { at } from '../json.ts'
import { isOpenAiMessage, readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfTurns } from '../model-calls.ts'
import { headOf, messagesOf, toolsOf } from '../record-head.ts'

const AGENT = 'assistant'

/**
 * Chats in the form of OpenAI's chat completions API: a list of messages, alone or under `messages` (also `traj`,
 * `conversation` or `trajectory`). A message's `name` is its agent.
 */
export const openaiChat: LogFormat = {
  name: 'openai-chat',
  title: "OpenAI chat messages, as in fine-tuning files and a program's own history",
  matches: (value) => {
    const messages = messagesOf(value)
    return messages.length > 0 && messages.every(isOpenAiMessage)
  },
  read: eachRecord(readChat),
}

function readChat(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const turns = messagesOf(value).map(readOpenAiMessage)
  const items = itemsOfTurns(turns, AGENT)
  const last = turns.at(-1)
  // Text beside calls is not an answer, and neither is a question at the end.
  const ends = last?.role === 'assistant' && last.calls.length === 0 && last.text !== ''
  return {
    ...headOf(value, ends ? last.text : undefined),
    ...(ends ? { answer: last.text } : {}),
    tools: toolsOf(at(value, 'tools')),
    items,
  }
}
