import type { ChatCall, ChatResult, ChatTurn } from '../chat-turn.ts'
import { asText, at, isObject, type JsonObject, parsedOr, textOf } from '../json.ts'
import { contentText } from './openai.ts'

/** What one part of a message is; a part that is none of these is named in the text, as an image is. */
type Part =
  | { kind: 'text' | 'thought'; text: string }
  | { kind: 'call'; call: ChatCall }
  | { kind: 'result'; result: ChatResult }

/**
 * The turns of a message whose content is a list of parts: OpenTelemetry (`parts` with `content`), AI SDK, Anthropic,
 * Google and OpenInference. Results split a message, since a model may go on writing after a tool of the provider.
 */
export function readParts(role: ChatTurn['role'], parts: readonly unknown[], name?: string): ChatTurn[] {
  const turns: Draft[] = []
  for (const part of parts.map(readPart)) {
    const last = turns.at(-1)
    const isResult = part.kind === 'result'
    const turn = last !== undefined && (isResult || last.results.length === 0) ? last : new Draft()
    if (turn !== last) turns.push(turn)
    if (isResult) {
      // A result never shares a turn with what a model wrote, because it came after that.
      if (role === 'assistant' && turn.isWritten) turns.push(new Draft(part.result))
      else turn.results.push(part.result)
    } else if (part.kind === 'call') turn.calls.push(part.call)
    else turn[part.kind === 'text' ? 'texts' : 'thoughts'].push(part.text)
  }
  return turns.map(({ texts, thoughts, calls, results }) => ({
    role: results.length > 0 && texts.length === 0 ? 'tool' : role,
    ...(name === undefined ? {} : { name }),
    text: texts.join('\n'),
    ...(thoughts.length === 0 ? {} : { thought: thoughts.join('\n') }),
    calls,
    results,
  }))
}

class Draft {
  readonly texts: string[] = []
  readonly thoughts: string[] = []
  readonly calls: ChatCall[] = []
  readonly results: ChatResult[] = []

  constructor(...results: ChatResult[]) {
    this.results.push(...results)
  }

  get isWritten(): boolean {
    return this.texts.length + this.thoughts.length + this.calls.length > 0
  }
}

function readPart(value: unknown): Part {
  if (!isObject(value)) return { kind: 'text', text: asText(value) }
  // OpenInference keeps each part under one key.
  const part = isObject(value['message_content']) ? value['message_content'] : value
  const type = asText(part['type']).replaceAll('_', '-')
  const google = part['functionCall'] ?? part['function_call']
  if (isObject(google)) return callPart(google)
  const answered = part['functionResponse'] ?? part['function_response']
  if (isObject(answered)) return resultPart({ ...answered, response: unwrapped(answered['response']) })
  if (/^(?:server-)?tool-(?:call|use)$|^function-call$/.test(type)) return callPart(part)
  if (/tool-(?:call-response|result|error)$/.test(type))
    return resultPart({
      ...part,
      ...(isObject(part['response']) ? { response: unwrapped(part['response']) } : {}),
    })
  const text = ['text', 'content', 'thinking', 'reasoning', 'refusal'].map((key) => textOf(part[key]))
  const found = text.find((one) => one !== undefined)
  if (found === undefined) return { kind: 'text', text: contentText([part]) }
  const isThought = part['thought'] === true || type === 'reasoning' || type === 'thinking'
  return { kind: isThought ? 'thought' : 'text', text: found }
}

function callPart(part: JsonObject): Part {
  const id = textOf(part['id'] ?? part['toolCallId'] ?? part['call_id'])
  const named = asText(part['name'] ?? part['toolName'])
  const input = part['arguments'] ?? part['args'] ?? part['input'] ?? part['server_tool_call'] ?? {}
  return { kind: 'call', call: { ...(id ? { id } : {}), tool: named, input: parsedOr(input) } }
}

function resultPart(part: JsonObject): Part {
  const id = textOf(part['id'] ?? part['toolCallId'] ?? part['tool_use_id'] ?? part['call_id'])
  const tool = textOf(part['name'] ?? part['toolName'])
  const output = ['response', 'result', 'output', 'content', 'error', 'server_tool_call_response']
    .map((key) => part[key])
    .find((one) => one !== undefined && one !== null)
  const failed =
    part['isError'] === true ||
    part['is_error'] === true ||
    asText(part['type']).endsWith('error') ||
    /^(?:error|execution)/.test(asText(at(output, 'type')))
  const result = { ...(id ? { id } : {}), ...(tool ? { tool } : {}), output: resultText(output) }
  return { kind: 'result', result: failed ? { ...result, ok: false } : result }
}

/** A result that is no object is wrapped in one by Google's API, which takes only objects. */
export function unwrapped(value: unknown): unknown {
  const result = at(value, 'result')
  return isObject(value) && Object.keys(value).length === 1 && result !== undefined ? result : value
}

/**
 * The text of a tool's result. AI SDK wraps it with its type, Model Context Protocol and Anthropic in a list of parts,
 * and a text that was serialized once more has quotes around it.
 */
export function resultText(output: unknown): string {
  const value = typeof output === 'string' && /^\s*"/.test(output) ? parsedOr(output) : output
  if (typeof value === 'string') return value
  if (isObject(value)) {
    const { type } = value
    const inner = value['value'] ?? value['reason']
    if (typeof type === 'string' && inner !== undefined && Object.keys(value).length === 2)
      return resultText(inner)
    if (isTexts(value['content']) && Object.keys(value).every((key) => envelope.has(key)))
      return contentText(value['content'])
  }
  return isTexts(value) ? contentText(value) : asText(value)
}

const envelope = new Set(['content', 'isError', 'role', 'type', 'tool_use_id'])
const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((part) => typeof at(part, 'text') === 'string')
