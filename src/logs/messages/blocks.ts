import type { ChatCall, ChatResult } from '../chat-turn.ts'
import { asText, at, isObject, type JsonObject, listOf, parsedOr, textOf } from '../json.ts'

/** What a message consists of. */
export interface Content {
  text: string
  thought?: string
  calls: ChatCall[]
  results: ChatResult[]
}

/**
 * Content in parts, whichever API they belong to: Anthropic and LangChain (`tool_use`, `thinking`), OpenTelemetry
 * (`tool_call`, `reasoning`), Gemini (`function_call`, no type), the AI SDK (`tool-call`). Parts of other kinds are named.
 */
export function readBlocks(blocks: readonly unknown[]): Content {
  const parts: Parts = { texts: [], thoughts: [], calls: [], results: [] }
  for (const block of blocks) addBlock(at(block, 'message_content') ?? block, parts)
  const joined = (texts: readonly string[]): string => texts.filter((one) => one !== '').join('\n')
  const thought = joined(parts.thoughts)
  return {
    text: joined(parts.texts),
    ...(thought === '' ? {} : { thought }),
    calls: parts.calls,
    results: parts.results,
  }
}

interface Parts {
  texts: string[]
  thoughts: string[]
  calls: ChatCall[]
  results: ChatResult[]
}

function addBlock(block: unknown, { texts, thoughts, calls, results }: Parts): void {
  if (!isObject(block)) {
    texts.push(asText(block))
    return
  }
  const kind = kindOf(block)
  const inner = block[camel(kind)] ?? block[kind]
  // Gemini puts everything into a field of the part.
  const fields = isObject(inner) ? { ...block, ...inner } : block
  if (/^thinking$|reasoning/i.test(kind)) thoughts.push(thoughtIn(fields))
  else if (isCall.test(kind)) calls.push(readCall(fields))
  else if (isResult.test(kind)) results.push(readResult(fields))
  else {
    const words = [block['text'], block['content'], block['refusal']].map(textOf)
    texts.push(words.find((one) => one !== undefined) ?? `[${kind === '' ? 'part' : kind}]`)
  }
}

const isCall = /^(?:server_)?(?:tool_call|tool_use|function_call|non_standard_tool_call)$/
const isResult = /(?:tool_result|tool_call_response|tool_call_result|function_response|_tool_result)$/

function kindOf(block: JsonObject): string {
  const type = textOf(block['type'])
  if (type !== undefined) return type.replaceAll('-', '_')
  if ('functionCall' in block || 'function_call' in block) return 'function_call'
  if ('functionResponse' in block || 'function_response' in block) return 'function_response'
  // The AI SDK lists calls and results without saying what they are.
  if ('toolCallId' in block) return 'output' in block || 'result' in block ? 'tool_result' : 'tool_call'
  // Gemini marks thoughts with a flag.
  return block['thought'] === true ? 'thinking' : ''
}

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Thoughts have their own field, or a list of summaries; encrypted ones say nothing. */
export function thoughtIn(block: unknown): string {
  for (const key of ['thinking', 'reasoning', 'content', 'text']) {
    const text = textOf(at(block, key))
    if (text !== undefined) return text
  }
  const inside = textOf(at(block, 'content', 'text')) ?? textOf(at(block, 'content', 'Text'))
  if (inside !== undefined) return inside
  const parts = [...listOf(at(block, 'content')), ...listOf(at(block, 'summary'))]
  return parts
    .map((part) => textOf(at(part, 'text')) ?? asText(part))
    .filter((text) => text !== '')
    .join('\n')
}

/** A call, whatever its fields are called. */
export function readCall(call: unknown): ChatCall {
  const id = firstText(call, 'call_id', 'toolCallId', 'tool_call_id', 'id')
  const tool = firstText(call, 'name', 'toolName') ?? asText(at(call, 'function', 'name'))
  const input =
    at(call, 'input') ?? at(call, 'args') ?? at(call, 'arguments') ?? at(call, 'function', 'arguments')
  return { ...(id === undefined ? {} : { id }), tool, input: parsedOr(input) }
}

function readResult(block: JsonObject): ChatResult {
  const id = firstText(block, 'tool_use_id', 'toolCallId', 'tool_call_id', 'call_id', 'id')
  const output = block['content'] ?? block['response'] ?? block['result'] ?? block['output']
  const ok = block['is_error'] === true || block['isError'] === true ? { ok: false } : {}
  return { output: plainText(output), ...(id === undefined ? {} : { id }), ...ok }
}

function firstText(value: unknown, ...keys: string[]): string | undefined {
  return keys.map((key) => textOf(at(value, key))).find((text) => text !== undefined && text !== '')
}

/** A result as text: text, or the text of its parts; anything else as JSON. */
export function plainText(value: unknown): string {
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((part) => textOf(at(part, 'text')) !== undefined)
  )
    return value.map((part) => textOf(at(part, 'text'))!).join('\n')
  return asText(value)
}
