import { type ApiLogs, isCall, readCalls } from '../api-calls.ts'
import { messages as api } from '../apis/messages.ts'
import type { ChatTurn } from '../chat-turn.ts'
import type { LogFormat, LoggedRun } from '../contract.ts'
import { at, isObject, listOf } from '../json.ts'
import { itemsOfChat } from '../one-chat.ts'
import { headOf, messagesOf } from '../record-head.ts'

const events = /^(?:message_(?:start|delta|stop)|content_block_(?:start|delta|stop))$/

const logs: ApiLogs = {
  api,
  isResponse: (body) =>
    at(body, 'type') === 'message' &&
    listOf(at(body, 'content')).every((block) => !/^(?:input|output)_/.test(String(at(block, 'type')))) &&
    Array.isArray(at(body, 'content')),
  isEvent: (event) => events.test(String(at(event, 'type'))),
  startsStream: (event) => at(event, 'type') === 'message_start',
  readWhole: readChat,
}

/** Chats in the form of Anthropic's Messages API: messages with content blocks, or responses with or without requests. */
export const anthropic: LogFormat = {
  name: 'anthropic',
  title: 'Anthropic messages with content blocks, requests and responses',
  matches: (value) => {
    const messages = messagesOf(value)
    const areTurns = messages.length > 0 && messages.every(isMessage)
    const hasBlocks = messages.some((message) => listOf(at(message, 'content')).some(isOwnBlock))
    return (areTurns && (hasBlocks || isSystem(at(value, 'system')))) || isCall(value, logs)
  },
  read: readCalls(logs),
}

const own = /^(?:thinking|redacted_thinking|(?:server_|mcp_)?tool_use|(?:\w+_)?tool_result)$/
const isOwnBlock = (block: unknown): boolean => own.test(String(at(block, 'type')))

const isSystem = (system: unknown): boolean => typeof system === 'string' || Array.isArray(system)

function isMessage(value: unknown): boolean {
  if (!isObject(value) || !['user', 'assistant'].includes(String(value['role']))) return false
  const { content } = value
  return typeof content === 'string' || (Array.isArray(content) && 'tool_calls' in value === false)
}

/** A request as it was sent, or the messages alone. */
function readChat(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const { system, turns, tools } = api.request({
    system: at(value, 'system'),
    tools: at(value, 'tools'),
    messages: messagesOf(value),
  })
  const instructions: ChatTurn[] =
    system === '' ? [] : [{ role: 'system', text: system, calls: [], results: [] }]
  const run = itemsOfChat([...instructions, ...turns])
  return { ...headOf(value, run.answer), ...run, tools: [...run.tools, ...tools] }
}
