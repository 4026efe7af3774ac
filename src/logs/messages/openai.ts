import type { ChatCall, ChatResult, ChatTurn } from '../chat-turn.ts'
import { asText, at, idOf, isObject, listOf, parsedOr, textOf } from '../json.ts'

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

/** A message of OpenAI's chat completions API or of one of the many that imitate it. */
export function isOpenAiMessage(value: unknown): boolean {
  if (!isObject(value) || !roles.has(String(value['role']))) return false
  const { content } = value
  // Other libraries have roles too, and their text under other keys.
  if (!fields.some((key) => key in value)) return false
  return (
    content === undefined || content === null || typeof content === 'string' || listOf(content).every(isPart)
  )
}

const fields = [
  'content',
  'tool_calls',
  'function_call',
  'tool_responses',
  'refusal',
  'reasoning_content',
  'reasoning',
]
const parts = new Set(['text', 'refusal', 'image_url', 'input_audio', 'file', 'thinking', 'reasoning'])
const isPart = (part: unknown): boolean => parts.has(String(at(part, 'type')))

export function readOpenAiMessage(value: unknown): ChatTurn {
  const role = String(at(value, 'role'))
  // OpenAI's Swarm says who sent a message.
  const name = textOf(at(value, 'name')) ?? textOf(at(value, 'sender'))
  const content = contentText(at(value, 'content'))
  const isResult = role === 'tool' || role === 'function'
  if (isResult) return { role: 'tool', text: '', calls: [], results: resultsOf(value, content, name) }
  const calls = callsOf(value)
  // AG2 writes that a message with calls has no text.
  const { thought, text } = thoughtOf(value, calls.length > 0 && content === 'None' ? '' : content)
  const refusal = textOf(at(value, 'refusal'))
  return {
    role: role === 'developer' ? 'system' : (role as ChatTurn['role']),
    ...(name === undefined ? {} : { name }),
    text: [text, text === refusal ? '' : (refusal ?? '')].filter((one) => one !== '').join('\n'),
    ...(thought === undefined ? {} : { thought }),
    calls,
    results: [],
  }
}

/** Several results in one message come as a list; its joined text repeats them. */
function resultsOf(value: unknown, content: string, name: string | undefined): ChatResult[] {
  const responses = listOf(at(value, 'tool_responses'))
  if (responses.length > 0)
    return responses.map((response) => resultOf(response, contentText(at(response, 'content')), undefined))
  return [resultOf(value, content, name)]
}

function resultOf(value: unknown, output: string, tool: string | undefined): ChatResult {
  const id = idOf(at(value, 'tool_call_id'))
  const failed = at(value, 'tool_call_error') === true || at(value, 'is_error') === true
  return {
    output,
    ...(id === undefined ? {} : { id }),
    ...(tool === undefined ? {} : { tool }),
    ...(failed ? { ok: false } : {}),
  }
}

/** Text, or the text of all parts; other parts are named. */
export function contentText(content: unknown): string {
  if (!Array.isArray(content)) return asText(content)
  return content
    .filter((part) => at(part, 'thinking') === undefined && at(part, 'reasoning') === undefined)
    .map(
      (part) =>
        textOf(part) ??
        textOf(at(part, 'text')) ??
        textOf(at(part, 'refusal')) ??
        `[${asText(at(part, 'type'))}]`,
    )
    .join('\n')
}

/** Reasoning has a field of its own, is a part of the content, or comes in tags before the text. */
function thoughtOf(value: unknown, content: string): { thought?: string; text: string } {
  const details = listOf(at(value, 'reasoning_details')).flatMap(
    (detail) => textOf(at(detail, 'text')) ?? textOf(at(detail, 'summary')) ?? [],
  )
  const parts = listOf(at(value, 'content')).flatMap(
    (part) => textOf(at(part, 'thinking')) ?? textOf(at(part, 'reasoning')) ?? [],
  )
  const field = [
    textOf(at(value, 'reasoning_content')) ?? textOf(at(value, 'reasoning')) ?? details.join('\n'),
    ...parts,
  ].filter((text) => text !== '')
  if (field.length > 0) return { thought: field.join('\n'), text: content }
  // Some templates end the prompt with the opening tag.
  const [whole, thought] = /^\s*(?:<think>)?([\s\S]*?)<\/think>/.exec(content) ?? []
  return whole === undefined
    ? { text: content }
    : { thought: thought!.trim(), text: content.slice(whole.length).trim() }
}

function callsOf(value: unknown): ChatCall[] {
  const calls = listOf(at(value, 'tool_calls')).map((call) => {
    const id = idOf(at(call, 'id'))
    const tool = at(call, 'function', 'name') ?? at(call, 'custom', 'name') ?? at(call, 'name')
    const input =
      at(call, 'function', 'arguments') ??
      at(call, 'custom', 'input') ??
      at(call, 'arguments') ??
      // As LangChain has them.
      at(call, 'args')
    return { ...(id === undefined ? {} : { id }), tool: asText(tool), input: parsedOr(input) }
  })
  const legacy = at(value, 'function_call')
  if (!isObject(legacy)) return calls
  return [...calls, { tool: asText(legacy['name']), input: parsedOr(legacy['arguments']) }]
}
