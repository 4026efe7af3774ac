import { eachRecord, type LogFormat, type LoggedRun, type LoggedTool } from '../contract.ts'
import { asJson, at, isObject, listOf, textOf } from '../json.ts'
import { isOpenAiMessage, readOpenAiMessage } from '../messages/openai.ts'
import { itemsOfTurns } from '../model-calls.ts'

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

function messagesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  const key = ['messages', 'traj', 'trajectory', 'conversation'].find(
    (name) => listOf(at(value, name)).length > 0,
  )
  return key === undefined ? [] : listOf(at(value, key))
}

function readChat(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const turns = messagesOf(value).map(readOpenAiMessage)
  const items = itemsOfTurns(turns, AGENT)
  const last = turns.at(-1)
  // Text beside calls is not an answer, and neither is a question at the end.
  const ends = last?.role === 'assistant' && last.calls.length === 0 && last.text !== ''
  const question = textOf(at(value, 'question')) ?? textOf(at(value, 'task'))
  return {
    ...headOf(value),
    ...(question === undefined ? {} : { question }),
    ...(ends ? { answer: last.text } : {}),
    tools: toolsOf(at(value, 'tools')),
    items,
  }
}

/** What files keep next to the messages. */
function headOf(value: unknown): Pick<LoggedRun, 'id' | 'correct'> {
  if (!isObject(value)) return {}
  const id = ['id', 'task_id', 'question_id'].map((key) => value[key]).find((found) => found !== undefined)
  const reward = value['reward']
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {}),
    ...(reward === 0 || reward === 1 ? { correct: reward === 1 } : {}),
  }
}

/** Tools as they are offered to a model: `{ type: "function", function: { name, description, parameters } }`. */
export function toolsOf(tools: unknown): LoggedTool[] {
  return listOf(tools).flatMap((tool) => {
    const definition = at(tool, 'function') ?? tool
    const name = textOf(at(definition, 'name'))
    const description = textOf(at(definition, 'description'))
    const parameters = at(definition, 'parameters') ?? at(definition, 'input_schema')
    return name === undefined
      ? []
      : {
          name,
          ...(description === undefined ? {} : { description }),
          ...(parameters === undefined ? {} : { parameters: asJson(parameters) }),
        }
  })
}
