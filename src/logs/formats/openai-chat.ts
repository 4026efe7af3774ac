import { type ApiLogs, isCall, readCalls } from '../api-calls.ts'
import { chat } from '../apis/chat.ts'
import type { LeftOut, LogFormat, LoggedRun } from '../contract.ts'
import { at, listOf } from '../json.ts'
import { isOpenAiMessage, readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfChat } from '../one-chat.ts'
import { headOf, messagesOf, toolsOf } from '../record-head.ts'

const CHUNK = 'chat.completion.chunk'

const logs: ApiLogs = {
  api: chat,
  isResponse: (body) => listOf(at(body, 'choices')).some((choice) => at(choice, 'message') !== undefined),
  isEvent: (event) => at(event, 'object') === CHUNK || at(event, 'choices', 0, 'delta') !== undefined,
  readWhole: readChat,
}

/**
 * Chats in the form of OpenAI's chat completions API: a list of messages, alone or under `messages` (also `traj`,
 * `conversation` or `trajectory`), or responses with or without their requests. A message's `name` is its agent.
 */
export const openaiChat: LogFormat = {
  name: 'openai-chat',
  title: "OpenAI chat messages: fine-tuning files, a program's own history, requests and responses",
  matches: (value) => {
    const messages = chatIn(value)
    return messages.length > 0 ? messages.every(isOpenAiMessage) : isCall(value, logs)
  },
  read: readCalls(logs),
  markup: /<\/?think>|\bfunction_call\b/g,
}

/** The messages of a record; of two answers to compare, the preferred one. */
function chatIn(value: unknown): readonly unknown[] {
  const preferred = listOf(at(value, 'preferred_output'))
  return preferred.length > 0 ? [...listOf(at(value, 'input', 'messages')), ...preferred] : messagesOf(value)
}

function readChat(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const run = itemsOfChat(chatIn(value).map(readOpenAiMessage))
  const offered = [at(value, 'tools'), at(value, 'functions'), at(value, 'input', 'tools')].flatMap(toolsOf)
  const rejected = listOf(at(value, 'non_preferred_output')).map((message): LeftOut => {
    const { text, thought = '' } = readOpenAiMessage(message)
    return { at: 'non_preferred_output', reason: 'a rejected answer', text: `${thought}${text}` }
  })
  return {
    ...headOf(value, run.answer),
    ...run,
    tools: [...run.tools, ...offered],
    leftOut: [...run.leftOut, ...rejected],
  }
}
