import { type ApiLogs, isCall, readCalls } from '../api-calls.ts'
import { responses as api } from '../apis/responses.ts'
import type { ChatTurn } from '../chat-turn.ts'
import type { LogFormat, LoggedRun } from '../contract.ts'
import { at, listOf } from '../json.ts'
import { itemsOfChat } from '../one-chat.ts'
import { headOf } from '../record-head.ts'

const logs: ApiLogs = {
  api,
  isResponse: (body) => at(body, 'object') === 'response' && Array.isArray(at(body, 'output')),
  isEvent: (event) => /^response\.\w/.test(String(at(event, 'type'))),
  startsStream: (event) => at(event, 'type') === 'response.created',
  readWhole: readItems,
}

/** OpenAI's Responses API: lists of items, responses chained by their ids, and requests with responses. */
export const openaiResponses: LogFormat = {
  name: 'openai-responses',
  title: 'OpenAI Responses items, requests and responses',
  matches: (value) => {
    const items = itemsIn(value)
    return (items.every(isItem) && items.some(isOwn)) || isCall(value, logs)
  },
  read: readCalls(logs),
}

const types =
  /^(?:message|reasoning|compaction|program|\w+_call|\w+_call_(?:output|result)|program_output|mcp_\w+|item_reference|additional_tools)$/
const isOwn = (item: unknown): boolean => types.test(String(at(item, 'type')))
const isItem = (item: unknown): boolean =>
  isOwn(item) || (at(item, 'type') === undefined && at(item, 'role') !== undefined)

/** A list of items, alone or under `input`, `items` or `output`. */
function itemsIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  const input = at(value, 'input')
  const asked = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)
  return [...asked, ...listOf(at(value, 'items')), ...listOf(at(value, 'output'))]
}

function readItems(value: unknown): Omit<LoggedRun, 'where' | 'source'> {
  const { system, turns, tools } = api.request({
    instructions: at(value, 'instructions'),
    tools: at(value, 'tools'),
    input: itemsIn(value),
  })
  const instructions: ChatTurn[] =
    system === '' ? [] : [{ role: 'system', text: system, calls: [], results: [] }]
  const run = itemsOfChat([...instructions, ...turns])
  return { ...headOf(value, run.answer), ...run, tools: [...run.tools, ...tools] }
}
