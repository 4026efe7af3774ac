import { eachRecord, type LogFormat } from '../contract.ts'
import { at, listOf, textOf } from '../json.ts'
import { isPydanticMessage, readPydanticMessage } from '../messages/pydantic-ai.ts'
import { itemsOfChat } from '../one-chat.ts'

/** Message histories of Pydantic AI: what `all_messages_json()` returns. */
export const pydanticAi: LogFormat = {
  name: 'pydantic-ai',
  title: 'Pydantic AI message histories',
  matches: (value) => messagesOf(value).length > 0 && messagesOf(value).every(isPydanticMessage),
  read: eachRecord((value) => {
    const messages = messagesOf(value)
    const id = textOf(at(messages[0], 'run_id'))
    const run = itemsOfChat(messages.flatMap(readPydanticMessage))
    return { ...run, ...(id === undefined ? {} : { id }) }
  }),
}

const messagesOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value)
    ? value
    : (['messages', 'all_messages', 'message_history']
        .map((key) => listOf(at(value, key)))
        .find((list) => list.length > 0) ?? [])
