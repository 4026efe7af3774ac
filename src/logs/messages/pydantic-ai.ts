import type { ChatCall, ChatResult, ChatTurn } from '../chat-turn.ts'
import { asText, at, idOf, isObject, listOf, parsedOr, textOf } from '../json.ts'
import { contentText } from './openai.ts'

/** A message of Pydantic AI: a request or a response, in parts. */
export const isPydanticMessage = (value: unknown): boolean =>
  /^(?:request|response)$/.test(asText(at(value, 'kind'))) &&
  Array.isArray(at(value, 'parts')) &&
  listOf(at(value, 'parts')).every((part) => typeof at(part, 'part_kind') === 'string')

/** Requests hold prompts and results, responses what the model wrote; tools that the provider runs have both in one. */
export function readPydanticMessage(message: unknown): ChatTurn[] {
  const instructions = textOf(at(message, 'instructions'))
  const turns: ChatTurn[] = instructions ? [prompt('system', instructions)] : []
  let open: Draft | undefined
  for (const part of listOf(at(message, 'parts'))) {
    const kind = asText(at(part, 'part_kind'))
    const text = contentText(at(part, 'content'))
    if (kind === 'system-prompt') turns.push(prompt('system', text))
    else if (kind === 'user-prompt') turns.push(prompt('user', text))
    else if (kind === 'retry-prompt' && textOf(at(part, 'tool_name')) === undefined)
      turns.push(prompt('user', text))
    else if (/-return$|^retry-prompt$/.test(kind)) {
      open = undefined
      turns.push({ role: 'tool', text: '', calls: [], results: [resultOf(part, kind)] })
    } else {
      if (open === undefined) {
        open = { role: 'assistant', text: '', calls: [], results: [] }
        turns.push(open)
      }
      add(part, kind, open)
    }
  }
  return turns
}

const prompt = (role: 'system' | 'user', text: string): ChatTurn => ({ role, text, calls: [], results: [] })

interface Draft extends ChatTurn {
  calls: ChatCall[]
}

function add(part: unknown, kind: string, turn: Draft): void {
  const text = asText(at(part, 'content'))
  const joined = (before = ''): string => [before, text].filter((one) => one !== '').join('\n')
  if (kind === 'text') turn.text = joined(turn.text)
  else if (kind === 'thinking') turn.thought = joined(turn.thought)
  else if (isOutput(part)) turn.text = [turn.text, asText(at(part, 'args'))].filter(Boolean).join('\n')
  else if (kind.endsWith('tool-call')) turn.calls.push(callOf(part))
}

/** An answer in a structure is given as a call of a tool that does nothing. */
const isOutput = (part: unknown): boolean =>
  at(part, 'tool_kind') === 'output' || /^final_result(?:_|$)/.test(asText(at(part, 'tool_name')))

function callOf(part: unknown): ChatCall {
  const id = idOf(at(part, 'tool_call_id'))
  const input = parsedOr(at(part, 'args') ?? {})
  return { ...(id === undefined ? {} : { id }), tool: asText(at(part, 'tool_name')), input }
}

function resultOf(part: unknown, kind: string): ChatResult {
  const id = idOf(at(part, 'tool_call_id'))
  const tool = textOf(at(part, 'tool_name'))
  const content = at(part, 'content')
  const failed = kind === 'retry-prompt' || (textOf(at(part, 'outcome')) ?? 'success') !== 'success'
  return {
    output: isObject(content) ? asText(content) : contentOf(content),
    ...(id === undefined ? {} : { id }),
    ...(tool === undefined ? {} : { tool }),
    ...(failed ? { ok: false } : {}),
  }
}

/** A tool may return any list; only one of texts reads as text. */
const contentOf = (content: unknown): string =>
  Array.isArray(content) && !content.every((one) => typeof one === 'string' || textOf(at(one, 'text')))
    ? asText(content)
    : contentText(content)
